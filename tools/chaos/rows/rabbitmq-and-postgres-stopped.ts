import { hitBoth, type Row } from '../row.ts';

/** Nothing can make a webhook durable: 503, and the providers' own retries take over the same id. */
export const rabbitmqAndPostgresStopped: Row = {
  name: 'rabbitmq-and-postgres-stopped',
  fault: 'RabbitMQ and Postgres are stopped, and started again together',
  duplicatesBecause: 'what was delivered just before could be recorded nowhere, and was delivered again',
  mayRefuse: true,
  acceptsWithinMs: 3_000,
  hit: hitBoth,
  run: async ({ server }, stage) => {
    const both = [server('rabbitmq'), server('postgres')];
    await stage.fault('RabbitMQ and Postgres are stopped', async () => {
      await Promise.all(both.map((each) => each.stop()));
      await Promise.all(both.map((each) => each.start()));
    });
  },
};

import { hitBoth, type Row } from '../row.ts';

/** Webhooks go through the outbox while the broker is away, and everybody comes back by himself. */
export const rabbitmqRestart: Row = {
  name: 'rabbitmq-restart',
  fault: 'RabbitMQ is stopped in good order and started again',
  duplicatesBecause: 'acknowledgements were on their way when the broker went',
  hit: hitBoth,
  run: async ({ server }, stage) => {
    await stage.fault('RabbitMQ restarts', async () => {
      await server('rabbitmq').stop();
      await server('rabbitmq').start();
    });
  },
};

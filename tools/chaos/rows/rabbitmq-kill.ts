import { hitBoth, type Row } from '../row.ts';

/** What the broker confirmed is on its disk. */
export const rabbitmqKill: Row = {
  name: 'rabbitmq-kill',
  fault: 'RabbitMQ is killed (`kill -9`) and started again',
  duplicatesBecause: 'acknowledgements and confirms were on their way when the broker went',
  hit: hitBoth,
  run: async ({ server }, stage) => {
    await stage.fault('RabbitMQ is killed', async () => {
      await server('rabbitmq').kill();
      await stage.wait(500);
      await server('rabbitmq').start();
    });
  },
};

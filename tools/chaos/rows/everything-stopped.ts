import { hitBoth, type Row } from '../row.ts';

/** A machine that lost its stores: 503 until they are back, and nothing that was answered 202 is gone. */
export const everythingStopped: Row = {
  name: 'everything-stopped',
  fault: 'RabbitMQ, Postgres and Redis are killed (`kill -9`) and started again together',
  duplicatesBecause: 'what was delivered just before could be recorded nowhere, and was delivered again',
  mayRefuse: true,
  acceptsWithinMs: 3_000,
  hit: hitBoth,
  run: async ({ server }, stage) => {
    const all = [server('rabbitmq'), server('postgres'), server('redis')];
    await stage.fault('all stores are killed', async () => {
      await Promise.all(all.map((each) => each.kill()));
      await stage.wait(500);
      await Promise.all(all.map((each) => each.start()));
    });
  },
};

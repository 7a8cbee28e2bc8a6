import { hitBoth, type Row } from '../row.ts';

/** The rate limit is open, and Postgres tells duplicates. */
export const redisStopped: Row = {
  name: 'redis-stopped',
  fault: 'Redis is stopped for 5 s',
  hit: hitBoth,
  run: async ({ server }, stage) => {
    await stage.fault('Redis is stopped', async () => {
      await server('redis').stop();
      await stage.wait(5_000);
      await server('redis').start();
    });
  },
};

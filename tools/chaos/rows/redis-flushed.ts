import { Redis } from 'ioredis';
import { hitBoth, type Row } from '../row.ts';

/** The receiver recognises that Redis lost its data, and looks ids up in Postgres. */
export const redisFlushed: Row = {
  name: 'redis-flushed',
  fault: 'Redis is emptied (`FLUSHALL`), three times',
  hit: hitBoth,
  run: async ({ world }, stage) => {
    const redis = new Redis(world.redisUrl);
    try {
      for (let times = 0; times < 3; times += 1) {
        await stage.fault('Redis is emptied', async () => void (await redis.flushall()));
        await stage.wait(1_500);
      }
    } finally {
      redis.disconnect();
    }
  },
};

import { hitBoth, type Row } from '../row.ts';

/** Rows go to the audit queue and are written when Postgres is back. */
export const postgresStopped: Row = {
  name: 'postgres-stopped',
  fault: 'Postgres is stopped for 6 s',
  hit: hitBoth,
  run: async ({ server }, stage) => {
    await stage.fault('Postgres is stopped', async () => {
      await server('postgres').stop();
      await stage.wait(6_000);
      await server('postgres').start();
    });
  },
};

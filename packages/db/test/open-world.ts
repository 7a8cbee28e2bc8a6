import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

/** A database of the test file's own, and a pool as the apps' user. Both are closed after the file's tests. */
export async function openWorld({ connectionsMax = 4 } = {}): Promise<{ world: World; app: pg.Pool }> {
  const world = await createWorld(inject('run'));
  const app = new pg.Pool({ connectionString: world.databaseUrl, max: connectionsMax });
  // Without a listener, an idle connection that a test cuts off would end the process.
  app.on('error', () => {});
  afterAll(async () => {
    await app.end();
    await world.close();
  });
  return { world, app };
}

import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { seedProject } from '@hqrelay/testing/seed';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../src/migrate.ts';
import { Postgres } from '../src/postgres.ts';
import { raiseLastSeen } from '../src/queries/last-seen.ts';

let world: World;
let postgres: Postgres;
const max = 4;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  postgres = new Postgres({
    url: world.databaseUrl,
    applicationName: 'waits',
    max,
    onChange: () => {},
  });
  await postgres.start();
});

afterAll(async () => {
  await postgres.close();
  await world.close();
});

/** Holds what `statement` locks while `work` runs. */
async function whileLocked<T>(statement: string, work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(statement);
    return await work();
  } finally {
    await holder.end();
  }
}

async function sessionsOf(name: string): Promise<number> {
  const { rows } = await world.sql.query<{ count: number }>(
    'select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = $1',
    [name],
  );
  return rows[0]?.count ?? 0;
}

const settings = (client: pg.Pool | pg.Client) =>
  client
    .query("select current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') as both")
    .then(({ rows }) => (rows[0] as { both: string }).both);

describe('while a table is locked', () => {
  it('Postgres stays up, and the sessions of a process stay within its pools', async () => {
    await whileLocked('lock table webhook_logs in access exclusive mode', async () => {
      const read = () =>
        postgres
          .tryWithin(200, (pool) => pool.query('select from webhook_logs limit 1'))
          .catch(() => undefined);
      let most = 0;
      const seen = { starting: 0, up: 0, down: 0, blocked: 0 };
      const endsAt = performance.now() + 7_000;
      while (performance.now() < endsAt) {
        expect(await read()).toBeUndefined();
        most = Math.max(most, await sessionsOf('waits'));
        seen[postgres.health.state] += 1;
      }
      // Postgres may need a moment to end a session that was closed. Without a bound there would be one for each read.
      expect(most).toBeLessThanOrEqual(2 * (max + 1));
      // A busy machine may delay a ping, and the next one succeeds. A Postgres that is taken for down stays so under the lock.
      expect(seen.up).toBeGreaterThan(seen.down);
    });
    await waitFor('the table', () =>
      postgres.tryWithin(200, (pool) => pool.query('select from webhook_logs')),
    );
  });

  it('an update of one project waits for no other session, and Postgres stays up', async () => {
    const [locked, other] = [await seedProject(world), await seedProject(world)];
    await whileLocked(`update projects set name = 'x' where id = '${locked.id}'`, async () => {
      const now = Date.now();
      const times = new Map([
        [locked.id, now],
        [other.id, now],
      ]);
      await postgres.tryWithin(5_000, (pool) => raiseLastSeen(pool, { projects: times, secrets: new Map() }));
    });
    const { rows } = await world.sql.query('select id from projects where last_received_at is not null');
    expect(rows).toEqual([{ id: other.id }]);
  });

  it('a migration gives up its place in the lock queue, and tries again until it gets the lock', async () => {
    let isDone = false;
    const migrating = await whileLocked('lock table drizzle.__drizzle_migrations', async () => {
      const work = migrate({ migrationDatabaseUrl: world.ownerDatabaseUrl, databaseUrl: world.databaseUrl });
      void work.then(() => (isDone = true));
      await waitFor('it to wait', async () => {
        const waits = await world.sql.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waits.rows.length > 0;
      });
      await waitFor('it to give up', async () => {
        const waits = await world.sql.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waits.rows.length === 0;
      });
      expect(isDone).toBe(false);
      return { work };
    });
    expect(await migrating.work).toEqual([]);
  });
});

describe('the limits of a session', () => {
  it('the limits of a session are settings of the role of each app, also of one that existed before, and a value of an administrator stays', async () => {
    const user = new URL(world.databaseUrl).username;
    const app = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
    const database = new URL(world.databaseUrl).pathname.slice(1);
    await world.sql.query(`alter role ${user} in database ${database} reset all`);
    await world.sql.query(`alter role ${user} in database ${database} set statement_timeout = '9s'`);
    await migrate({ migrationDatabaseUrl: world.ownerDatabaseUrl, databaseUrl: world.databaseUrl });
    expect(await settings(app)).toBe('2s 9s');
    await app.end();
  });

  it('the limits of a session are set for the owner too where it connects directly', async () => {
    const owner = new Postgres({
      url: world.ownerDatabaseUrl,
      applicationName: 'owner',
      max: 1,
      onChange: () => {},
    });
    expect(await settings(owner.pool)).toBe('2s 5s');
    await owner.close();
  });
});

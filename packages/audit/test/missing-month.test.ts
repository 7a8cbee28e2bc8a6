import { newId } from '@hqrelay/domain/ids';
import { waitFor } from '@hqrelay/testing/wait-for';
import pg from 'pg';
import { expect, it } from 'vitest';
import { storeRows } from '../src/store-rows.ts';
import { openAuditWorld, webhook } from './audit-world.ts';

const world = await openAuditWorld();

it('two processes that find a month without partitions both store their rows', async () => {
  const at = new Date();
  at.setUTCMonth(at.getUTCMonth() + 9, 15);
  // The function makes partitions under this lock: both have failed to store their row before either may make them.
  const holder = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await holder.connect();
  await holder.query("select pg_advisory_lock(hashtext('hqrelay_ensure_partition'))");
  const storing = [1, 2].map((second) =>
    storeRows(world.postgres.pool, [webhook(undefined, newId(at.getTime() + second * 1_000))]),
  );
  await waitFor('both to wait', async () => {
    const { rows } = await world.sql.query(
      "select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()",
    );
    return rows.length === 2;
  });
  await holder.end();
  const outcomes = await Promise.all(storing);
  expect(outcomes.flat().map(({ kind }) => kind)).toEqual(['stored', 'stored']);
});

it('rows of a month without partitions are not parked when Postgres does not let them be made', async () => {
  const at = new Date();
  at.setUTCMonth(at.getUTCMonth() + 11, 15);
  const row = webhook(undefined, newId(at.getTime()));
  const makePartitions = 'execute on function hqrelay_ensure_partition(timestamptz)';
  const roles = 'hqrelay_receiver, hqrelay_worker, hqrelay_console';
  await world.sql.query(`revoke ${makePartitions} from ${roles}`);
  await expect(storeRows(world.postgres.pool, [row])).rejects.toMatchObject({ code: '42501' });

  await world.sql.query(`grant ${makePartitions} to ${roles}`);
  expect(await storeRows(world.postgres.pool, [row])).toMatchObject([{ kind: 'stored' }]);
});

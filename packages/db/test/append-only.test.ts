import { freshId } from '@hqrelay/testing/fresh-id';
import { appendAudit } from '../src/queries/append-audit.ts';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { attemptRow, webhookRow } from './audit-rows.ts';

let world: World;
let app: pg.Pool;
let owner: pg.Client;

const month = new Date().toISOString().slice(0, 7).replace('-', '_');
const parents = ['webhook_logs', 'delivery_attempts', 'replays'];
const tables = [...parents.flatMap((table) => [table, `${table}_${month}`]), 'admin_log'];
const changes = [
  ['UPDATE', (table: string) => `update ${table} set id = id`],
  ['UPDATE of no row', (table: string) => `update ${table} set id = id where false`],
  ['DELETE', (table: string) => `delete from ${table}`],
  ['DELETE of no row', (table: string) => `delete from ${table} where false`],
  ['TRUNCATE', (table: string) => `truncate ${table}`],
  ['TRUNCATE CASCADE', (table: string) => `truncate ${table} restart identity cascade`],
  [
    'INSERT ... ON CONFLICT DO UPDATE',
    (table: string) => {
      const time = {
        webhook_logs: 'received_at',
        delivery_attempts: 'attempted_at',
        replays: 'requested_at',
      }[table.replace(/_\d{4}_\d{2}$/, '')];
      const key = time === undefined ? 'id' : `id, ${time}`;
      return `insert into ${table} select * from ${table} on conflict (${key}) do update set id = excluded.id`;
    },
  ],
  [
    'MERGE',
    (table: string) => `merge into ${table} t using ${table} s on t.id = s.id when matched then delete`,
  ],
] as const;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  app = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
  owner = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await owner.connect();
  const webhook = webhookRow();
  await appendAudit(app, [webhook, attemptRow(webhook.log)]);
  await app.query(
    'insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at) values ($1, $2, $3, $4, now())',
    [freshId(), webhook.log.id, webhook.log.endpointIds[0], 'test'],
  );
  await app.query(
    `insert into admin_log (id, actor, action, project_id, target, details) values ($1, 'cli:test', 'project.update', $2, 'test', '{}')`,
    [freshId(), webhook.log.projectId],
  );
});

afterAll(async () => {
  await app.end();
  await owner.end();
  await world.close();
});

async function contents(): Promise<unknown[]> {
  const rows = await Promise.all(
    [...parents, 'admin_log'].map(
      async (table) => (await world.sql.query(`select * from ${table}`)).rows as unknown[],
    ),
  );
  return rows.flat();
}

describe.each(tables)('%s', (table) => {
  it.each(changes)('the database refuses %s to the apps', async (_change, statement) => {
    await expect(app.query(statement(table))).rejects.toMatchObject({ code: '42501' });
    expect(await contents()).toHaveLength(4);
  });

  it.each(changes)('the database refuses %s to the owner', async (_change, statement) => {
    await expect(owner.query(statement(table))).rejects.toMatchObject({
      code: '23001',
      message: expect.stringContaining('append-only') as unknown,
    });
    expect(await contents()).toHaveLength(4);
  });

  it.each(changes)(
    'the database refuses %s to the owner in a session with the replica role',
    async (_change, statement) => {
      await owner.query("set session_replication_role = 'replica'");
      try {
        await expect(owner.query(statement(table))).rejects.toMatchObject({ code: '23001' });
      } finally {
        await owner.query('reset session_replication_role');
      }
      expect(await contents()).toHaveLength(4);
    },
  );
});

it('a partition that is made later refuses changes like the first ones', async () => {
  await app.query("select hqrelay_ensure_partition(now() + interval '13 months')");
  const later = new Date();
  later.setUTCMonth(later.getUTCMonth() + 13, 1);
  const child = `webhook_logs_${later.toISOString().slice(0, 7).replace('-', '_')}`;
  for (const statement of [`truncate ${child}`, `delete from ${child}`, `update ${child} set id = id`]) {
    await expect(owner.query(statement)).rejects.toMatchObject({ code: '23001' });
  }
});

it.each([
  ['drops a payload', 'delete from webhook_payloads'],
  ['rewrites a payload', "update webhook_payloads set payload = ''"],
  ['deletes a project', 'delete from projects'],
  ['deletes an endpoint', 'delete from endpoints'],
  ['deletes a secret', 'delete from project_secrets'],
  ['makes a table', 'create table public.mine (id int)'],
  ['switches a trigger off', 'alter table webhook_logs disable trigger all'],
  ['drops a partition', `drop table webhook_logs_${month}`],
  ['makes triggers by hand', `select hqrelay_refuse_changes_of('projects')`],
  ['inserts into one partition past its parent', `insert into replays_${month} select * from replays`],
])('an app never %s', async (_what, statement) => {
  await expect(app.query(statement)).rejects.toMatchObject({ code: '42501' });
});

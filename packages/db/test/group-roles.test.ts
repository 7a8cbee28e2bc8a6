import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { appendAudit } from '../src/queries/append-audit.ts';
import { relations, secretColumns } from '../src/roles/group-roles.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const programs = ['receiver', 'worker', 'console', 'reader'] as const;
type Program = (typeof programs)[number];

let world: World;
const clients = new Map<Program, pg.Client>();
const reader = `reader_${freshId().slice(-12)}`;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  await world.sql.query(`create role ${reader} login password 'test'; grant hqrelay_reader to ${reader}`);
  const readerUrl = new URL(world.databaseUrl);
  Object.assign(readerUrl, { username: reader, password: 'test' });
  const urls: Record<Program, string | undefined> = {
    receiver: world.env['RECEIVER_DATABASE_URL'],
    worker: world.env['WORKER_DATABASE_URL'],
    console: world.env['CONSOLE_DATABASE_URL'],
    reader: readerUrl.href,
  };
  for (const program of programs) {
    const client = new pg.Client({ connectionString: urls[program] });
    await client.connect();
    clients.set(program, client);
  }
  await fillTables();
});

afterAll(async () => {
  for (const client of clients.values()) await client.end();
  await world.close();
  const server = new pg.Client({ connectionString: inject('run').postgres });
  await server.connect();
  await server.query(`drop role ${reader}`);
  await server.end();
});

/** A row in each table that a statement below reads or changes. */
async function fillTables(): Promise<void> {
  const project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: 'https://example.com/' });
  const webhook = webhookRow({ projectId: project.id });
  await appendAudit(world.sql, [webhook, attemptRow(webhook.log)]);
  await world.sql.query(
    `insert into dead_letters (id, kind, reason, dead_at) values ('${freshId()}', 'delivery', 'test', now());
     insert into idempotency_keys (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
       values ('${freshId()}', 'evt', '${freshId()}', 'ab', 'seen', '${freshId()}', now(), now())`,
  );
}

/** Runs a statement as a program's user, undoes it, and returns `allowed` or `refused`. Throws any other error. */
async function outcomeOf(program: Program, statement: string): Promise<'allowed' | 'refused'> {
  const client = clients.get(program)!;
  await client.query('begin');
  try {
    await client.query(statement);
    return 'allowed';
  } catch (error) {
    if ((error as pg.DatabaseError).code === '42501') return 'refused';
    throw error;
  } finally {
    await client.query('rollback');
  }
}

const id = `'${freshId()}'`;
const month = new Date().toISOString().slice(0, 7).replace('-', '_');
const insertWebhook = `insert into webhook_logs (id, project_id, webhook_id, status, endpoint_ids, payload_bytes, correlation_id, received_at)
  values (${id}, ${id}, 'evt', 'queued', '{}', 0, 'test', now())`;
const insertAttempt = `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status,
  latency_ms, correlation_id, attempted_at) values (${id}, ${id}, ${id}, ${id}, ${id}, 'live', 1, 'failed', 1, 'test', now())`;
const insertDecision = `insert into delivery_decisions (delivery_id, webhook_log_id, endpoint_id, project_id, cancelled_at)
  values (${id}, ${id}, ${id}, ${id}, now())
  on conflict (delivery_id) do update set cancelled_at = excluded.cancelled_at`;
const insertHeld = `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
  values (${id}, ${id}, ${id}, 'delay', now(), now(), 'q', '')`;
const insertJob = `insert into replay_jobs (id, selection, rate_per_second, requested_by, count, count_capped, next_due_at)
  values (${id}, '{}', 1, 'test', 1, false, now())`;
const insertMessage = `insert into outbox (id, exchange, routing_key, message, created_at) values (${id}, '', '', '', now())
  on conflict (id) do update set message = ''`;

describe('the database', () => {
  it.each<[what: string, statement: string, allowed: Program[]]>([
    ['insert a webhook', insertWebhook, ['receiver', 'worker']],
    [
      'insert a payload',
      `insert into webhook_payloads (id, payload, headers, query, received_at) values (${id}, '', '[]', '', now()) on conflict do nothing`,
      ['receiver', 'worker'],
    ],
    ['read payloads', 'select payload from webhook_payloads', ['worker', 'console', 'reader']],
    ['delete a payload', 'delete from webhook_payloads', []],
    ['insert an attempt', insertAttempt, ['worker']],
    [
      'read the answers of endpoints',
      'select response_body from delivery_attempts',
      ['worker', 'console', 'reader'],
    ],
    ['change a webhook', "update webhook_logs set status = 'rejected'", []],
    ['delete an attempt', 'delete from delivery_attempts', []],
    ['read one partition past its table', `select id from webhook_logs_${month}`, []],
    [
      'insert a replay',
      `insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at) values (${id}, ${id}, ${id}, 'test', now())`,
      ['worker', 'console'],
    ],
    [
      'insert a row of admin_log',
      `insert into admin_log (id, actor, action, details) values (${id}, 'cli:test', 'project.update', '{}')`,
      ['worker', 'console'],
    ],
    ['change a row of admin_log', "update admin_log set actor = 'another'", []],
    ['insert a project', `insert into projects (id, name) values (${id}, 'new')`, ['console']],
    ['rename a project', "update projects set name = 'other'", ['console']],
    [
      'record when a project last received',
      'update projects set last_received_at = now()',
      ['receiver', 'console'],
    ],
    ['raise the version of a project', 'update projects set config_version = 0', ['worker', 'console']],
    ['delete a project', 'delete from projects', []],
    ['read the secrets of projects', 'select sealed from project_secrets', ['receiver', 'worker', 'console']],
    [
      'record when a secret last verified',
      'update project_secrets set last_verified_at = now()',
      ['receiver', 'console'],
    ],
    ['replace a secret', "update project_secrets set sealed = 'mine'", ['console']],
    ['revoke a secret', 'update project_secrets set revoked_at = now()', ['console']],
    ['point an endpoint elsewhere', "update endpoints set url = 'https://evil.example/'", ['console']],
    ['replace the fixed headers of an endpoint', "update endpoints set sealed_headers = 'x'", ['console']],
    [
      'disable an endpoint after a 410',
      "update endpoints set enabled = false, disabled_by = 'relay', disabled_reason = 'HTTP 410'",
      ['worker', 'console'],
    ],
    ['replace the signing secret of an endpoint', "update endpoint_secrets set sealed = 'mine'", ['console']],
    [
      'read the signing secrets of endpoints',
      'select sealed from endpoint_secrets',
      ['receiver', 'worker', 'console'],
    ],
    [
      'read the fixed headers of endpoints',
      'select sealed_headers, sealed_client_certificate from endpoints',
      ['receiver', 'worker', 'console'],
    ],
    [
      'read the rest of an endpoint',
      'select id, url, ca_certificates from endpoints',
      ['receiver', 'worker', 'console', 'reader'],
    ],
    ['hold a delivery', insertHeld, ['worker', 'console']],
    ['release a held delivery', 'delete from held_deliveries', ['worker', 'console']],
    ['cancel a delivery', insertDecision, ['console']],
    [
      'read decisions about deliveries',
      'select cancelled_at from delivery_decisions',
      ['worker', 'console', 'reader'],
    ],
    ['read held deliveries', 'select message from held_deliveries', ['worker', 'console', 'reader']],
    ['put a message into the outbox', insertMessage, ['receiver', 'worker']],
    ['read the messages of the outbox', 'select message from outbox', ['worker', 'console', 'reader']],
    ['empty the outbox', 'delete from outbox', ['worker']],
    ['reserve an id', "update idempotency_keys set state = 'seen'", ['receiver']],
    ['delete an expired id', 'delete from idempotency_keys where expires_at <= now()', ['worker']],
    [
      'lock expired ids',
      'select from idempotency_keys where expires_at <= now() for update skip locked',
      ['receiver', 'worker'],
    ],
    [
      'insert a dead letter',
      `insert into dead_letters (id, kind, reason, dead_at) values (${id}, 'message', 'test', now())`,
      ['worker'],
    ],
    ['mark a dead letter as replayed', 'update dead_letters set replayed_at = now()', ['worker', 'console']],
    ['rewrite the reason of a dead letter', "update dead_letters set reason = 'none'", []],
    ['delete a dead letter', 'delete from dead_letters', []],
    ['create a replay job', insertJob, ['console']],
    [
      'cancel a replay job',
      "update replay_jobs set state = 'cancelled', ended_at = now()",
      ['worker', 'console'],
    ],
    ['change what a replay job selects', "update replay_jobs set selection = '{}'", ['console']],
    ['open the breaker of an endpoint', 'delete from endpoint_breakers', ['worker']],
    ['read the states of deliveries', 'select state from delivery_status', ['worker', 'console', 'reader']],
    ['make partitions', 'select hqrelay_ensure_partition(now())', ['receiver', 'worker', 'console']],
    ['drop old payloads', `select hqrelay_drop_payloads(now() - interval '9 days', ${id}, 1)`, ['worker']],
    [
      'erase a payload',
      `do $$ begin perform hqrelay_erase_webhook(${id}, 'test'); exception when no_data_found then null; end $$`,
      ['console'],
    ],
    ['read the hashes of API keys', 'select key_sha256 from api_keys', ['console']],
    ['read the answers of the API', 'select sealed_answer from api_answers', ['console']],
    ['revoke an API key', 'update api_keys set revoked_at = now()', ['console']],
    ['delete an API key', 'delete from api_keys', []],
    ['read the hashes of sign-in links', 'select token_sha256 from console_links', ['console']],
    ['read the hashes of sessions', 'select token_sha256 from sessions', ['console']],
    ['revoke a session', 'update sessions set revoked_at = now()', ['console']],
    ['delete a session', 'delete from sessions', []],
    ['delete a sign-in link', 'delete from console_links', ['console']],
    ['delete an answer of the API', 'delete from api_answers', ['console']],
    ['create a table', 'create table public.mine (id int)', []],
    ['switch a trigger off', 'alter table webhook_logs disable trigger all', []],
  ])('the database lets exactly the programs that need it %s', async (_what, statement, allowed) => {
    const outcomes = await Promise.all(
      programs.map(async (program) => [program, await outcomeOf(program, statement)] as const),
    );
    expect(outcomes.filter(([, outcome]) => outcome === 'allowed').map(([program]) => program)).toEqual(
      allowed,
    );
  });

  it('the schema has no table or view whose privileges are not stated', async () => {
    const { rows } = await world.sql.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition`,
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(relations.toSorted());
  });

  it('hqrelay_reader can read every column but secrets and hashes of them', async () => {
    const { rows } = await world.sql.query<{ relation: string; column: string }>(
      `select c.relname as relation, a.attname as column
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.oid = any($1::text[]::regclass[]) and not has_column_privilege('hqrelay_reader', c.oid, a.attnum, 'select')
       order by 1, a.attnum`,
      [relations],
    );
    const hidden = Object.entries(secretColumns).flatMap(([relation, columns]) =>
      columns.map((column) => ({ relation, column })),
    );
    type Column = { relation: string; column: string };
    const nameOf = ({ relation, column }: Column) => `${relation}.${column}`;
    const byName = (a: Column, b: Column) => nameOf(a).localeCompare(nameOf(b));
    expect(rows.toSorted(byName)).toEqual(hidden.toSorted(byName));
    const { rows: sealed } = await world.sql.query<{ relation: string; column: string }>(
      `select table_name as relation, column_name as column from information_schema.columns
       where table_schema = 'public' and column_name ~ '^sealed' order by 1, ordinal_position`,
    );
    const hiddenAndSealed = hidden.filter(({ column }) => column.startsWith('sealed'));
    expect(sealed.toSorted(byName)).toEqual(hiddenAndSealed.toSorted(byName));
  });
});

import { randomUUID } from 'node:crypto';
import type { AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const senders = 4;
const lockedForMs = 8_000;
/**
 * Twice the pool of each app and the connection of its pings: Postgres may need a moment to end a session that was closed. Without a
 * bound there would be one for each webhook.
 */
const sessionsMax = { 'hqrelay-receiver': 2 * (8 + 1), 'hqrelay-worker': 2 * (10 + 1) };

const world = await openWorld();
const endpoint = await openEndpoint();
const env = { ...world.env, LOG_LEVEL: 'debug' };
const [receiver, worker] = await Promise.all([openApp('receiver', env), openApp('worker', env)]);
await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);
let project: SeededProject;

beforeEach(async () => {
  project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: `${endpoint.url}?${project.id}` });
  await postWebhook(receiver.url, project, { webhookId: 'before' });
});

describe('a lock of another session', () => {
  it('every webhook is stored at once and delivered while a session has an open update of its project', async () => {
    const spilledBefore = await spilledRows();
    const seen = await sendWhileLocked(`update projects set name = 'x' where id = '${project.id}'`);
    expect(new Set(seen.statusCodes)).toEqual(new Set([202]));
    expect(seen.sessionsAboveMax).toEqual([]);
    expectMostlyUp(seen);
    // A busy machine may delay some commits. A commit that waited for the lock would make every row spill.
    expect((await spilledRows()) - spilledBefore).toBeLessThan(seen.accepted.length / 2);
    await expectDelivered(seen.accepted);
  });

  it.each(['webhook_logs', 'webhook_payloads', 'delivery_attempts'])(
    'every webhook is delivered under an ACCESS EXCLUSIVE lock on %s, and Postgres counts as up',
    async (table) => {
      const seen = await sendWhileLocked(`lock table ${table} in access exclusive mode`);
      expect(new Set(seen.statusCodes)).toEqual(new Set([202]));
      expect(seen.sessionsAboveMax).toEqual([]);
      expectMostlyUp(seen);
      await expectDelivered(seen.accepted);
    },
  );
});

type Seen = {
  statusCodes: number[];
  accepted: string[];
  sessionsAboveMax: { name: string; count: number }[];
  /** How often an app was asked for the state of Postgres during the lock, by the state. */
  postgresStates: Record<string, number>;
};

/** A busy machine may delay a ping, and the next one succeeds. A Postgres that is taken for down stays so until the lock is released. */
function expectMostlyUp({ postgresStates: { up = 0, ...others } }: Seen): void {
  expect(up).toBeGreaterThan(Object.values(others).reduce((sum, count) => sum + count, 0));
}

/** Posts webhooks one after another from each sender, while the statement's transaction stays open. */
async function sendWhileLocked(statement: string): Promise<Seen> {
  const holder = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(statement);
    const endsAt = performance.now() + lockedForMs;
    const watching = watchSessions(endsAt);
    const answers = (await Promise.all(Array.from({ length: senders }, () => sendUntil(endsAt)))).flat();
    const { sessionsAboveMax, states } = await watching;
    return {
      statusCodes: answers.map(({ statusCode }) => statusCode),
      accepted: answers.filter(({ statusCode }) => statusCode === 202).map(({ body }) => body.id as string),
      sessionsAboveMax,
      postgresStates: states,
    };
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
}

async function sendUntil(endsAt: number) {
  const answers = [];
  while (performance.now() < endsAt) {
    const webhookId = randomUUID();
    answers.push(await postWebhook(receiver.url, project, { webhookId, body: `{"event":"${webhookId}"}` }));
  }
  return answers;
}

async function watchSessions(endsAt: number) {
  const sessionsAboveMax: Seen['sessionsAboveMax'] = [];
  const states: Seen['postgresStates'] = {};
  while (performance.now() < endsAt) {
    const { rows } = await world.sql.query<{ name: string; count: number }>(
      `select application_name as name, count(*)::int from pg_stat_activity
       where datname = current_database() and application_name = any($1) group by 1`,
      [Object.keys(sessionsMax)],
    );
    sessionsAboveMax.push(
      ...rows.filter(({ name, count }) => count > sessionsMax[name as keyof typeof sessionsMax]),
    );
    for (const app of [receiver, worker]) {
      const state = await postgresStateOf(app);
      states[state] = (states[state] ?? 0) + 1;
    }
  }
  return { sessionsAboveMax, states };
}

async function postgresStateOf(app: AppProcess): Promise<string> {
  const response = await fetch(`${app.url}/health/ready`);
  const { dependencies } = (await response.json()) as { dependencies: { postgres: { state: string } } };
  return dependencies.postgres.state;
}

/** Counts the rows that both apps have spilled so far. */
async function spilledRows(): Promise<number> {
  const byReceiver = receiver.logs
    .filter((line) => line['msg'] === 'audit.spilled')
    .reduce((sum, line) => sum + Number(line['rows']), 0);
  const metrics = await (await fetch(`${worker.url}/metrics`)).text();
  return byReceiver + Number(/^hqrelay_audit_spilled_total (\d+)$/m.exec(metrics)?.[1]);
}

/** Every webhook has one queued row and one delivered attempt once the lock is released. */
async function expectDelivered(accepted: readonly string[]): Promise<void> {
  expect(accepted.length).toBeGreaterThan(senders);
  expect(new Set(accepted).size).toBe(accepted.length);
  const countOf = async (query: string) =>
    (await world.sql.query<{ count: number }>(query, [accepted])).rows[0]?.count;
  await waitFor(
    'every webhook to be delivered and recorded',
    async () =>
      (await countOf(
        `select count(distinct webhook_log_id)::int from delivery_attempts
         where webhook_log_id = any($1) and status = 'delivered'`,
      )) === accepted.length &&
      (await countOf(`select count(*)::int from webhook_logs where id = any($1) and status = 'queued'`)) ===
        accepted.length,
  );
}

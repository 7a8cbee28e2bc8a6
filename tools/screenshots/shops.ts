import { createHash } from 'node:crypto';
import { appendAudit, type AuditRow } from '@hqrelay/db/queries/append-audit';
import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { rollUpStatistics } from '@hqrelay/db/queries/roll-up-statistics';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import type pg from 'pg';

export type Shop = {
  projectId: string;
  /** The one whose webhooks fail. */
  endpointId: string;
  /** A webhook that was delivered to one endpoint and waits for the other. */
  failed: string;
};

/** Sends a POST with an admin's key, and resolves with the id of what it made: `noun` is its name in the answer. */
export type Post = (path: string, noun: 'project' | 'endpoint', body: object) => Promise<string>;

const minuteMs = 60_000;
const eventTypes = [
  'payment.paid',
  'payment.paid',
  'order.created',
  'order.shipped',
  'refund.issued',
] as const;
const answer = '{"error":"column \\"currency\\" of relation \\"orders\\" does not exist"}';

/** Three projects with a day of webhooks, the same at each run but for the time. */
export async function makeShops(sql: pg.Pool, post: Post): Promise<Shop> {
  const now = Date.now();
  await ensurePartition(sql, now - 1_440 * minuteMs);
  const acme = await makeProject(post, 'Acme Shop', [
    'https://shop.example/webhooks',
    'https://ledger.example/hooks',
  ]);
  const rows = dayOf(acme, { now, perHour: 9, failsFrom: 90 });
  for (const [name, perHour] of [
    ['Bakery Box', 4],
    ['Tide & Trail Outdoor', 14],
  ] as const) {
    const project = await makeProject(post, name, ['https://hooks.example/in']);
    rows.push(...dayOf(project, { now, perHour, failsFrom: 0 }));
  }
  const [endpointId = '', second = ''] = acme.endpointIds;
  const failed = webhookRow(acme, { at: now - 4 * minuteMs, order: 'A-4711', eventType: 'payment.paid' });
  rows.push(failed.row, attemptOf(acme, failed, { endpointId: second, at: now - 4 * minuteMs + 400 }));
  for (const [attemptNum, at, next] of [
    [1, -4, -3.9],
    [2, -3.9, -3.3],
    [3, -3.3, 1.8],
  ] as const) {
    const failure = { statusCode: 500, attemptNum, nextAttemptAt: now + next * minuteMs };
    rows.push(attemptOf(acme, failed, { endpointId, at: now + at * minuteMs + 300, failure }));
  }
  await appendAudit(sql, rows);
  await addDeadLetters(sql, acme, now);
  while (await rollUpStatistics(sql));
  return { projectId: acme.projectId, endpointId, failed: failed.id };
}

type Project = { projectId: string; endpointIds: readonly string[] };

async function makeProject(post: Post, name: string, urls: readonly string[]): Promise<Project> {
  const projectId = await post('/projects', 'project', { name });
  const endpointIds: string[] = [];
  for (const url of urls)
    endpointIds.push(await post(`/projects/${projectId}/endpoints`, 'endpoint', { url }));
  return { projectId, endpointIds };
}

/** A day of webhooks, busier in its middle; from `failsFrom` minutes ago the first endpoint fails now and then. */
function dayOf(
  project: Project,
  { now, perHour, failsFrom }: { now: number; perHour: number; failsFrom: number },
): AuditRow[] {
  const rows: AuditRow[] = [];
  let order = 4_100;
  for (let minute = 1_439; minute > 5; minute -= 1) {
    const busy = 0.6 + 0.4 * Math.sin(minute / 230);
    if (random(minute + perHour) > (perHour * busy) / 60) continue;
    order += 1;
    const at = now - minute * minuteMs;
    const eventType = eventTypes[order % eventTypes.length] as string;
    const webhook = webhookRow(project, { at, order: `A-${order}`, eventType });
    rows.push(webhook.row);
    for (const endpointId of project.endpointIds) {
      const fails = endpointId === project.endpointIds[0] && minute < failsFrom && order % 3 === 0;
      const failure = fails && { statusCode: 500, attemptNum: 1, nextAttemptAt: at + 5_300 };
      rows.push(attemptOf(project, webhook, { endpointId, at: at + 60, ...(failure && { failure }) }));
      if (failure) {
        const second = { endpointId, at: at + 5_400, attemptNum: 2 };
        rows.push(attemptOf(project, webhook, second));
      }
    }
  }
  return rows;
}

type Made = { id: string; row: AuditRow };

function webhookRow(
  { projectId, endpointIds }: Project,
  { at, order, eventType }: { at: number; order: string; eventType: string },
): Made {
  const id = newId(at);
  const payload = Buffer.from(
    JSON.stringify({ event: eventType, order, amount: 12_900, currency: 'EUR', customer: 'Nadia Petrov' }),
  );
  const log = {
    id,
    projectId,
    webhookId: `evt_${order.toLowerCase()}`,
    eventType,
    status: 'queued' as const,
    reason: null,
    endpointIds,
    duplicateOf: null,
    payloadSha256: createHash('sha256').update(payload).digest('hex'),
    payloadBytes: payload.length,
    remoteAddr: '203.0.113.7',
    correlationId: `corr-${order.toLowerCase()}`,
  };
  const headers = [
    ['content-type', 'application/json'],
    ['user-agent', 'PayGate/3.1'],
  ] as const;
  return { id, row: { kind: 'webhook', log, payload: { payload, headers, query: '' } } };
}

type Failure = { statusCode: number; attemptNum: number; nextAttemptAt: number | null };

function attemptOf(
  { projectId }: Project,
  { id }: Pick<Made, 'id'>,
  {
    endpointId,
    at,
    failure,
    attemptNum = failure ? failure.attemptNum : 1,
  }: { endpointId: string; at: number; failure?: Failure; attemptNum?: number },
): AuditRow {
  const isDead = failure?.nextAttemptAt === null;
  return {
    kind: 'attempt',
    attempt: {
      id: newId(at),
      deliveryId: deliveryId(id, endpointId),
      webhookLogId: id,
      projectId,
      endpointId,
      lane: attemptNum === 1 ? 'live' : 'retry',
      attemptNum,
      status: failure ? (isDead ? 'dead_lettered' : 'failed') : 'delivered',
      statusCode: failure ? failure.statusCode : 200,
      latencyMs: 20 + Math.round(random(at) * 180),
      error: failure ? `HTTP ${failure.statusCode}` : null,
      responseBody: failure ? answer : 'ok',
      correlationId: 'corr',
      nextAttemptAt: failure ? failure.nextAttemptAt : null,
    },
  };
}

/** Four deliveries of yesterday that used up their schedule. */
async function addDeadLetters(sql: pg.Pool, acme: Project, now: number): Promise<void> {
  const [endpointId = ''] = acme.endpointIds;
  for (let index = 0; index < 4; index += 1) {
    const at = now - (600 - index * 7) * minuteMs;
    const webhook = webhookRow(acme, { at, order: `A-40${index}7`, eventType: 'order.created' });
    const failure = { statusCode: 503, attemptNum: 6, nextAttemptAt: null };
    const delivered = acme.endpointIds.slice(1).map((id) => attemptOf(acme, webhook, { endpointId: id, at }));
    await appendAudit(sql, [
      webhook.row,
      ...delivered,
      ...[0, 1, 2, 3, 4].map((before) => {
        const tried = {
          statusCode: 503,
          attemptNum: before + 1,
          nextAttemptAt: at + (before + 1) * 20 * minuteMs,
        };
        return attemptOf(acme, webhook, { endpointId, at: at + before * 20 * minuteMs, failure: tried });
      }),
      attemptOf(acme, webhook, { endpointId, at: at + 120 * minuteMs, failure }),
    ]);
    const letter = {
      id: deliveryId(webhook.id, endpointId),
      kind: 'delivery' as const,
      reason: 'schedule used up',
      projectId: acme.projectId,
      webhookLogId: webhook.id,
      endpointId,
      content: null,
    };
    await insertDeadLetters(sql, [letter], at + 120 * minuteMs);
  }
}

/** The same number from 0 to 1 for the same seed. */
function random(seed: number): number {
  const value = Math.sin(seed % 10_007) * 10_000;
  return value - Math.floor(value);
}

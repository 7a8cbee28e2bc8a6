import { isUtf8 } from 'node:buffer';
import { explainReason } from '@hqrelay/domain/inbound/rejection-reason';
import { redactQuery } from '@hqrelay/domain/secrets/redaction';
import type { WebhookDetails } from '@hqrelay/db/queries/webhooks';
import { type Cell, formatDuration, formatFields, formatTable, formatTime, onOneLine } from './print.ts';

type Status = WebhookDetails['replays'][number] | WebhookDetails['deliveries'][number];

/** The body as text; null when it is absent or not printable text. */
export function bodyText(body: Buffer | null): string | null {
  if (!body || !isUtf8(body)) return null;
  const text = body.toString('utf8');
  return /[^\P{Cc}\t\r\n]/u.test(text) ? null : text;
}

/** All records of a webhook, the most important ones first. `now` in ms, for ages. */
export function formatWebhook(details: WebhookDetails, now: number): string {
  const parts = [
    facts(details, now),
    deliveries(details, now),
    replays(details, now),
    attempts(details),
    payload(details),
  ];
  return parts.filter((part) => part !== null).join('\n\n');
}

function facts({ webhook }: WebhookDetails, now: number): string {
  const age = formatDuration(now - webhook.receivedAt.getTime());
  const fields = formatFields({
    project: `${webhook.projectId}  ${webhook.projectName ?? ''}`,
    'webhook id': webhook.webhookId,
    'event type': webhook.eventType,
    received: `${formatTime(webhook.receivedAt)} (${age} ago) from ${webhook.remoteAddr ?? 'unknown'}`,
    'correlation id': webhook.correlationId,
    reason: webhook.reason ?? undefined,
    meaning: explainReason(webhook.reason ?? '')?.explanation,
    requests: webhook.requestCount > 1 ? `${webhook.requestCount} in one second` : undefined,
    'duplicate of': webhook.duplicateOf ?? undefined,
    body: `${webhook.payloadBytes} bytes${webhook.payloadSha256 === null ? '' : `, sha256 ${webhook.payloadSha256}`}`,
  });
  return `WEBHOOK ${webhook.id}  ${webhook.status}\n${fields}`;
}

function payload({ payload: stored }: WebhookDetails): string {
  if (!stored) return 'PAYLOAD\n  not stored';
  const lines = stored.headers.map(([name, value]) => `  ${onOneLine(name)}: ${onOneLine(value, 500)}`);
  if (stored.query !== '') lines.unshift(`  query ${onOneLine(redactQuery(stored.query), 500)}`);
  const text = bodyText(stored.body);
  const body = text === null ? [`(${stored.bytes} bytes, not shown)`] : text.trimEnd().split(/\r?\n/);
  // Line by line, so that the body keeps its line breaks but no control character that could steer the terminal.
  const shown = body.map((line) => `  ${line.replaceAll('\t', '  ').replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')}`);
  return ['PAYLOAD', ...lines, '', ...shown].join('\n');
}

function deliveries(details: WebhookDetails, now: number): string {
  const { webhook, deliveries: owed } = details;
  const none =
    webhook.status === 'queued'
      ? 'none: no enabled endpoint matched when it came in'
      : `none: a ${webhook.status} webhook is not delivered`;
  const table = formatTable(
    [...statusTitles, 'WHEN'],
    owed.map((each) => [...statusCells(each), whenOf(each, now)]),
    none,
  );
  return `DELIVERIES\n${indent([table, ...nextSteps(details, owed)].join('\n'))}`;
}

/** Null when there are none. */
function replays(details: WebhookDetails, now: number): string | null {
  const { replays: made } = details;
  if (made.length === 0) return null;
  const table = formatTable(
    ['ASKED FOR', 'BY', ...statusTitles, 'WHEN'],
    made.map((each) => [each.requestedAt, each.requestedBy, ...statusCells(each), whenOf(each, now)]),
    '',
  );
  return `REPLAYS\n${indent([table, ...nextSteps(details, made)].join('\n'))}`;
}

const statusTitles = ['STATE', 'ENDPOINT', 'URL', 'ATTEMPTS', 'LAST ANSWER'];

function statusCells(each: Status): Cell[] {
  const lastAnswer = each.lastError ?? (each.lastStatusCode === null ? null : `HTTP ${each.lastStatusCode}`);
  return [each.state, each.endpointId, each.url, each.attempts, lastAnswer];
}

/** A line for each delivery that waits or is dead, with the commands for it. */
function nextSteps(details: WebhookDetails, statuses: readonly Status[]): string[] {
  return [...waitingLines(statuses), ...deadLetterLines(details, statuses)];
}

function waitingLines(statuses: readonly Status[]): string[] {
  return statuses
    .filter(({ state, attempts: made }) => state === 'held' || (state === 'waiting' && made > 0))
    .map(
      ({ deliveryId, state }) =>
        `${state} delivery ${deliveryId}: hqrelay delivery retry-now|cancel ${deliveryId}`,
    );
}

/** A line for each dead letter: its reason, and the command that replays it or why that is no longer possible. */
function deadLetterLines({ webhook, replays: made }: WebhookDetails, statuses: readonly Status[]): string[] {
  return statuses
    .filter(({ state }) => state === 'dead_lettered')
    .map(({ deliveryId, endpointId, deadReason, replayedAt, lastError }) => {
      const why = onOneLine(deadReason ?? lastError ?? 'unknown', 500);
      const command = deadReason
        ? `hqrelay dlq replay ${deliveryId}`
        : `hqrelay replay ${webhook.id} --endpoint ${endpointId}`;
      if (!replayedAt) return `dead letter ${deliveryId}: ${why}; to deliver it again: ${command}`;
      const replay = made.find(
        (each) => each.endpointId === endpointId && each.requestedAt.getTime() === replayedAt.getTime(),
      );
      const closed = replay ? `replayed at ${formatTime(replayedAt)}` : `erased at ${formatTime(replayedAt)}`;
      return `dead letter ${deliveryId}: ${why}; ${closed}`;
    });
}

const heldBecause: Readonly<Record<NonNullable<Status['heldReason']>, string>> = {
  delay: 'waits for its time',
  paused: 'its endpoint is paused',
  disabled: 'its endpoint is disabled',
  order: 'behind an earlier one of its key',
  breaker: 'its endpoint is failing or has more in flight than it may',
};

function whenOf(delivery: Status, now: number): string | null {
  if (delivery.deliveredAt) return `delivered ${formatTime(delivery.deliveredAt)}`;
  const { state, heldReason } = delivery;
  if (state === 'dead_lettered' || state === 'cancelled') return null;
  const why = heldReason && heldBecause[heldReason];
  if (heldReason === 'order' && 'order' in delivery && delivery.order) return placeOf(delivery.order);
  // A delivery that its endpoint holds has no due time.
  if (why && heldReason !== 'delay') return why;
  const due = delivery.heldUntil ?? delivery.nextAttemptAt;
  if (!due) return why;
  const waitMs = due.getTime() - now;
  const distance = formatDuration(waitMs);
  return `${waitMs > 0 ? `due in ${distance}` : `overdue by ${distance}`} (${formatTime(due)})`;
}

function placeOf({
  key,
  sequence,
  behind,
}: NonNullable<WebhookDetails['deliveries'][number]['order']>): string {
  const ofKey = `of key ${onOneLine(key)}`;
  if (sequence === null) return `until webhooks ${ofKey} that came before it are recorded`;
  if (!behind) return `the next ${ofKey}`;
  const { webhookId, state, nextAttemptAt } = behind;
  const when = nextAttemptAt ? `next attempt ${formatTime(nextAttemptAt)}` : state.replace('_', '-');
  return `behind ${webhookId} ${ofKey}, ${when}`;
}

function attempts({ attempts: made }: WebhookDetails): string {
  const table = formatTable(
    ['STARTED', 'ENDPOINT', '#', 'LANE', 'STATUS', 'CODE', 'LATENCY', 'ERROR', 'NEXT ATTEMPT', 'ANSWER'],
    made.map((each) => [
      each.attemptedAt,
      each.endpointId,
      each.attemptNum,
      each.lane,
      each.status,
      each.statusCode,
      `${each.latencyMs} ms`,
      each.error,
      each.nextAttemptAt,
      each.responseBody ? onOneLine(each.responseBody, 80) : null,
    ]),
    'none yet',
  );
  return `ATTEMPTS\n${indent(table)}`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

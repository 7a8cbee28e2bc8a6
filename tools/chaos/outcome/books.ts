import { timeOfId } from '@hqrelay/domain/ids';
import type { Endpoint } from '../endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { SentWebhook } from '../../harness/load.ts';
import type { Remains } from './remains.ts';
import type { Fault } from '../row.ts';

export type Books = {
  /** Webhooks that were answered 202, and the deliveries they owe. */
  accepted: number;
  owed: number;
  delivered: number;
  waiting: number;
  held: number;
  dead: number;
  /** Owed, and in no store. */
  lost: number;
  duplicates: number;
  /** What does not balance, for people. */
  problems: string[];
  /** Deliveries that were made twice without a fault that explains it; a machine that stalls for a while causes them too. */
  unexplained: string[];
};

export type BooksInput = {
  webhooks: readonly SentWebhook[];
  /** What each project's webhooks owe. */
  owedBy: ReadonlyMap<string, readonly string[]>;
  endpoints: ReadonlyMap<string, Endpoint>;
  ledger: Ledger;
  remains: Remains;
  faults: readonly Fault[];
  duplicatesBecause: string | undefined;
};

/** How long recovery from a fault takes; and how long the duplicates that it causes may take to arrive. */
const recoveryMs = 5_000;
const duplicatesEndMs = 15_000;

/**
 * Compares the answers that providers got, the deliveries that endpoints got, and the tables:
 * 202s = delivered + waiting + held + dead-lettered, for every endpoint they owe.
 */
export function balance(input: BooksInput): Books {
  const { webhooks, owedBy, endpoints, ledger, remains } = input;
  const problems: string[] = [];
  const report = (count: number, what: string, example?: string) => {
    if (count > 0) problems.push(`${count} ${what}${example === undefined ? '' : `, such as ${example}`}`);
  };
  const books = { accepted: 0, owed: 0, delivered: 0, waiting: 0, held: 0, dead: 0, lost: 0 };
  const queued = new Map(ledger.queued.map((row) => [row.id, row]));
  const lost: string[] = [];
  const unrecorded: string[] = [];
  const neverArrived: string[] = [];
  const lettersMissing: string[] = [];
  const rowsMissing: string[] = [];
  const wrongOwed: string[] = [];

  for (const webhook of webhooks) {
    const [id] = webhook.ids;
    if (id === undefined) continue;
    books.accepted += 1;
    const owed = owedBy.get(webhook.projectId) ?? [];
    const row = queued.get(id);
    if (!row) rowsMissing.push(id);
    else if (row.endpointIds.toSorted().join() !== owed.toSorted().join()) wrongOwed.push(id);
    for (const endpointId of owed) {
      books.owed += 1;
      const key = `${id}/${endpointId}`;
      const arrivals = endpoints.get(endpointId)?.arrivals.get(id) ?? [];
      const succeeded = arrivals.some(({ answered }) => answered === 200);
      const state = ledger.states.get(key);
      if (state === 'delivered') {
        if (succeeded) books.delivered += 1;
        else neverArrived.push(key);
      } else if (state === 'held') books.held += 1;
      else if (state === 'dead_lettered') {
        books.dead += 1;
        if (!remains.deadLetters.has(key)) lettersMissing.push(key);
      } else if (remains.waiting.has(key)) books.waiting += 1;
      else if (succeeded) unrecorded.push(key);
      else lost.push(key);
    }
  }
  books.lost = lost.length + neverArrived.length;
  report(lost.length, 'deliveries are lost', lost[0]);
  report(neverArrived.length, 'deliveries are recorded as delivered and never arrived', neverArrived[0]);
  report(unrecorded.length, 'deliveries were made and are not recorded', unrecorded[0]);
  report(rowsMissing.length, 'webhooks answered 202 have no queued row', rowsMissing[0]);
  report(wrongOwed.length, 'webhooks owe other endpoints than their project has', wrongOwed[0]);
  report(
    lettersMissing.length,
    'dead letters are neither in their queue nor in their table',
    lettersMissing[0],
  );
  report(remains.parked.length, 'messages are parked', remains.parked[0]);

  const twoIds = webhooks.filter(({ ids }) => ids.size > 1);
  report(twoIds.length, 'webhooks were answered 202 under two ids', twoIds[0]?.webhookId);
  const twice = twoLives(ledger);
  report(twice.length, 'webhooks have two queued rows', twice[0]);

  problems.push(...attemptProblems(input));
  const duplicates = countDuplicates(input);
  return { ...books, duplicates: duplicates.count, unexplained: duplicates.unexplained, problems };
}

/** One row for every attempt that was answered, one row only, and counted without a gap. */
function attemptProblems({ endpoints, ledger, remains }: BooksInput): string[] {
  const problems: string[] = [];
  const twice = [...ledger.attempts].filter(([, count]) => count > 1);
  if (twice[0]) problems.push(`${twice.length} attempts have two rows, such as ${twice[0][0]}`);
  const missing: string[] = [];
  for (const [endpointId, endpoint] of endpoints) {
    for (const [webhookId, arrivals] of endpoint.arrivals) {
      if (remains.waiting.has(`${webhookId}/${endpointId}`)) continue;
      for (const { attemptNum, answered } of arrivals) {
        const key = `${webhookId}/${endpointId}/${attemptNum}`;
        if (answered !== undefined && !ledger.attempts.has(key)) missing.push(key);
      }
    }
  }
  if (missing[0]) problems.push(`${missing.length} attempts have no row, such as ${missing[0]}`);
  const gaps = [...ledger.attempts.keys()].filter((key) => {
    const [, webhookId, endpointId, number] = /^(.+)\/(.+)\/(\d+)$/.exec(key) as unknown as string[];
    return Number(number) > 1 && !ledger.attempts.has(`${webhookId}/${endpointId}/${Number(number) - 1}`);
  });
  if (gaps[0]) problems.push(`${gaps.length} attempts follow none, such as ${gaps[0]}`);
  return problems;
}

/**
 * An attempt that arrived before, or anything after a success. A fault explains it when the webhook was in flight
 * as it hit: sent before its end, and sent again during it or soon after. The tables must recognise later duplicates.
 */
function countDuplicates({ endpoints, faults, duplicatesBecause }: BooksInput): {
  count: number;
  unexplained: string[];
} {
  let count = 0;
  const unexplained: string[] = [];
  for (const [endpointId, endpoint] of endpoints) {
    for (const [webhookId, arrivals] of endpoint.arrivals) {
      for (const [index, arrival] of arrivals.entries()) {
        const first = arrivals
          .slice(0, index)
          .find((each) => each.attemptNum === arrival.attemptNum || each.answered === 200);
        if (!first) continue;
        count += 1;
        const explained = faults.some(
          ({ startedAt, endedAt }) =>
            first.at <= endedAt + recoveryMs &&
            arrival.at >= startedAt &&
            arrival.at <= endedAt + duplicatesEndMs,
        );
        if (duplicatesBecause !== undefined && explained) continue;
        const times = [first, arrival].map(({ attemptNum, at }) => {
          const fault = faults.findLast(({ startedAt }) => startedAt <= at) ?? faults[0];
          return `attempt ${attemptNum} ${Math.round(at - (fault?.startedAt ?? 0))} ms after the fault began`;
        });
        unexplained.push(`${webhookId}/${endpointId}: ${times.join(', then ')}`);
      }
    }
  }
  return { count, unexplained };
}

/** Webhooks that were queued under two ids, with the times inside these. */
function twoLives(ledger: Ledger): string[] {
  const ids = new Map<string, string[]>();
  for (const { id, projectId, webhookId } of ledger.queued) {
    const key = `${projectId}/${webhookId}`;
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  return [...ids]
    .filter(([, lives]) => lives.length > 1)
    .map(([key, lives]) => {
      const times = lives.map(timeOfId).sort((a, b) => a - b);
      return `${key}: ${lives.join(' and ')}, ${(times.at(-1) ?? 0) - (times[0] ?? 0)} ms apart`;
    });
}

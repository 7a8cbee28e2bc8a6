import { timeOfId } from '@hqrelay/domain/ids';
import type { Endpoint } from '../endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { SentWebhook } from '../../harness/load.ts';
import { orderProblems } from './order-problems.ts';
import type { Remains } from './remains.ts';
import type { Fault } from '../row.ts';

export type Books = {
  /** Webhooks that were answered 202, and the deliveries that they owe. */
  accepted: number;
  owed: number;
  delivered: number;
  waiting: number;
  held: number;
  dead: number;
  /** Owed, and in no store. */
  lost: number;
  duplicates: number;
  /** A sentence for each imbalance. */
  problems: string[];
  /** Deliveries that were made twice without a fault that explains it. A machine that stalls causes them too. */
  unexplained: string[];
};

export type BooksInput = {
  webhooks: readonly SentWebhook[];
  /** The endpoints that each project's webhooks owe. */
  owedBy: ReadonlyMap<string, readonly string[]>;
  endpoints: ReadonlyMap<string, Endpoint>;
  ledger: Ledger;
  remains: Remains;
  faults: readonly Fault[];
  duplicatesBecause: string | undefined;
};

/** The longest recovery from a fault, and the time within which the duplicates of a fault arrive. */
const recoveryMs = 5_000;
const duplicatesEndMs = 15_000;

/**
 * Compares the answers that providers got, the deliveries that endpoints got, and the tables:
 * 202s = delivered + waiting + held + dead-lettered, for every endpoint that a webhook owes.
 */
export function balance(input: BooksInput): Books {
  const { webhooks, ledger, remains } = input;
  const counts = { accepted: 0, owed: 0, delivered: 0, waiting: 0, held: 0, dead: 0 };
  const found = newFindings();
  const queued = new Map(ledger.queued.map((row) => [row.id, row]));
  for (const webhook of webhooks) {
    const [id] = webhook.ids;
    if (id === undefined) continue;
    counts.accepted += 1;
    if (webhook.ids.size > 1) found.twoIds.push(webhook.webhookId);
    const owed = input.owedBy.get(webhook.projectId) ?? [];
    const row = queued.get(id);
    if (!row) found.rowMissing.push(id);
    else if (row.endpointIds.toSorted().join() !== owed.toSorted().join()) found.wrongOwed.push(id);
    for (const endpointId of owed) {
      counts.owed += 1;
      const place = placeOf(input, id, endpointId);
      if (isCounted(place)) counts[place] += 1;
      else found[place].push(`${id}/${endpointId}`);
      if (place === 'dead' && !remains.deadLetters.has(`${id}/${endpointId}`)) {
        found.letterMissing.push(`${id}/${endpointId}`);
      }
    }
  }
  found.parked.push(...remains.parked);
  found.twoRows.push(...twoQueuedRows(ledger));
  const duplicates = countDuplicates(input);
  return {
    ...counts,
    lost: found.lost.length + found.neverArrived.length,
    duplicates: duplicates.count,
    unexplained: duplicates.unexplained,
    problems: [...problemsOf(found), ...attemptProblems(input), ...orderProblems(input)],
  };
}

/** The sentence for each kind of imbalance, in the order of the report. */
const findings = {
  lost: 'deliveries are lost',
  neverArrived: 'deliveries are recorded as delivered and never arrived',
  unrecorded: 'deliveries were made and are not recorded',
  rowMissing: 'webhooks answered 202 have no queued row',
  wrongOwed: 'webhooks owe other endpoints than their project has',
  letterMissing: 'dead letters are neither in their queue nor in their table',
  parked: 'messages are parked',
  twoIds: 'webhooks were answered 202 under two ids',
  twoRows: 'webhooks have two queued rows',
} as const;

type Findings = Record<keyof typeof findings, string[]>;

function newFindings(): Findings {
  return Object.fromEntries(Object.keys(findings).map((name) => [name, [] as string[]])) as Findings;
}

function problemsOf(found: Findings): string[] {
  return Object.entries(findings).flatMap(([name, what]) => {
    const [example, ...others] = found[name as keyof Findings];
    return example === undefined ? [] : [`${others.length + 1} ${what}, such as ${example}`];
  });
}

const countedPlaces = ['delivered', 'waiting', 'held', 'dead'] as const;
type Place = (typeof countedPlaces)[number] | 'lost' | 'neverArrived' | 'unrecorded';

function isCounted(place: Place): place is (typeof countedPlaces)[number] {
  return (countedPlaces as readonly string[]).includes(place);
}

/** The place where an owed delivery was found. */
function placeOf({ endpoints, ledger, remains }: BooksInput, id: string, endpointId: string): Place {
  const key = `${id}/${endpointId}`;
  const arrivals = endpoints.get(endpointId)?.arrivals.get(id) ?? [];
  const succeeded = arrivals.some(({ answered }) => answered === 200);
  const state = ledger.states.get(key);
  if (state === 'delivered') return succeeded ? 'delivered' : 'neverArrived';
  if (state === 'held') return 'held';
  if (state === 'dead_lettered') return 'dead';
  if (remains.waiting.has(key)) return 'waiting';
  return succeeded ? 'unrecorded' : 'lost';
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
 * A duplicate is an attempt that arrived before, or any attempt after a success. A fault explains it when the webhook was in
 * flight at the fault: it first arrived before the fault's end or soon after, and again during the fault or soon after. Later
 * duplicates must be recognised by the tables.
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
function twoQueuedRows(ledger: Ledger): string[] {
  const ids = new Map<string, string[]>();
  for (const { id, projectId, webhookId } of ledger.queued) {
    const key = `${projectId}/${webhookId}`;
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  return [...ids]
    .filter(([, several]) => several.length > 1)
    .map(([key, several]) => {
      const times = several.map(timeOfId).sort((a, b) => a - b);
      return `${key}: ${several.join(' and ')}, ${(times.at(-1) ?? 0) - (times[0] ?? 0)} ms apart`;
    });
}

import type { Books } from './books.ts';
import type { Figures } from './figures.ts';
import type { Load } from '../../harness/load.ts';
import type { Answer } from '../../harness/post-as-provider.ts';
import type { Evidence, Fault, Row } from '../row.ts';
import type { Site } from '../site.ts';

/** `did not count`: the row proves nothing, which fails the run too. */
export type Outcome = { kind: 'green' } | { kind: 'red' | 'did not count'; reasons: string[] };

/** Webhooks answered 202 below which a row proves nothing. */
export const acceptedMin = { brief: 300, whole: 1_000 };

const slowestAnswerMsMax = 2_500;
/** The 99th percentile of answers from a second after a fault on; on a slow machine three times the value before the fault. */
const p99MsMax = 250;
const p99FactorMax = 3;
/** On a machine that takes longer than this before any fault, times prove nothing. */
const quietP99Ms = 100;
/** The share of 503s that the instant of a fault may cause, where the row allows none. */
const refusedShareMax = 0.03;

export type Case = {
  row: Row;
  brief: boolean;
  answers: readonly Answer[];
  faults: readonly Fault[];
  books: Books;
  figures: Figures;
  evidence: Evidence;
  hit: string | undefined;
  /** Problems found before the books were read. */
  reasons: readonly string[];
};

export function judge(given: Case): Outcome {
  const { row, brief, answers, books, figures, evidence } = given;
  const reasons = [...books.problems, ...given.reasons];
  const uncounted = reasonsNotToCount(given);
  const unexpected = answers.find(({ outcome }) => outcome === 'unexpected');
  if (unexpected) reasons.push(`an unexpected answer: ${unexpected.detail}`);
  if (!row.mayRefuse && evidence.unavailable > books.accepted * refusedShareMax) {
    reasons.push(`${evidence.unavailable} answers were 503`);
  }
  reasons.push(...(row.check?.(evidence) ?? []));
  const ofBusyMachines = brief ? [] : [...tooSlow(row, figures, evidence), ...madeAgain(books)];
  if (figures.p99BeforeMs <= quietP99Ms) reasons.push(...ofBusyMachines);
  else if (ofBusyMachines.length > 0) {
    uncounted.push(
      `the machine was too busy: p99 ${figures.p99BeforeMs} ms before the fault`,
      ...ofBusyMachines,
    );
  }
  if (reasons.length > 0) return { kind: 'red', reasons };
  return uncounted.length > 0 ? { kind: 'did not count', reasons: uncounted } : { kind: 'green' };
}

function madeAgain({ unexplained }: Books): string[] {
  return unexplained.length === 0
    ? []
    : [`${unexplained.length} deliveries made twice that no fault explains, such as ${unexplained[0]}`];
}

function tooSlow(row: Row, figures: Figures, { timedOut }: Evidence): string[] {
  const { slowestAnswerMs, p99Ms, p99BeforeMs } = figures;
  const reasons: string[] = [];
  if (timedOut > 0) reasons.push(`${timedOut} requests had no answer within 3 s`);
  if (slowestAnswerMs > slowestAnswerMsMax) reasons.push(`an answer took ${slowestAnswerMs} ms`);
  if (p99Ms > Math.max(row.p99MsMax ?? p99MsMax, p99BeforeMs * p99FactorMax)) {
    reasons.push(`p99 ${p99Ms} ms from a second after the fault, ${p99BeforeMs} ms before it`);
  }
  return reasons;
}

/** The figures that a row's own conditions judge. */
export function evidenceOf(
  { answers, sentAgain }: Load,
  faults: readonly Fault[],
  site: Site,
  duplicates: number,
): Evidence {
  const count = (outcome: Answer['outcome']) => answers.filter((answer) => answer.outcome === outcome).length;
  return {
    faults,
    unavailable: count('unavailable'),
    reset: count('reset'),
    refused: count('refused'),
    timedOut: count('timed_out'),
    cut: [...site.endpoints.values()].reduce((sum, each) => sum + each.cut(), 0),
    duplicates,
    sentAgain,
  };
}

function reasonsNotToCount({ row, brief, answers, faults, books, hit }: Case): string[] {
  const reasons: string[] = [];
  if (books.accepted < acceptedMin[brief ? 'brief' : 'whole'])
    reasons.push(`only ${books.accepted} webhooks were answered 202`);
  if (hit === undefined) reasons.push('the fault hit nothing in flight');
  const times = answers
    .filter(({ outcome }) => outcome === 'accepted')
    .map(({ sentAt, tookMs }) => sentAt + tookMs);
  const withinMs = row.acceptsWithinMs ?? 1_000;
  for (const { what, startedAt, endedAt } of faults) {
    if (!times.some((at) => at < startedAt && at >= startedAt - 1_000))
      reasons.push(`no 202 in the second before: ${what}`);
    if (!times.some((at) => at > endedAt && at <= endedAt + withinMs))
      reasons.push(`no 202 within ${withinMs} ms after: ${what}`);
  }
  return reasons;
}

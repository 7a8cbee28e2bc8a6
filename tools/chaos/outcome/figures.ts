import type { Endpoint } from '../endpoint.ts';
import type { SentWebhook } from '../../harness/load.ts';
import type { Answer } from '../../harness/post-as-provider.ts';
import type { Fault } from '../row.ts';

/** The fault's effect on providers and endpoints, ms. */
export type Figures = {
  slowestAnswerMs: number;
  /** Of answers to requests sent a second after a fault began, and later. */
  p99Ms: number;
  /** The same before the first fault: the speed of this machine. */
  p99BeforeMs: number;
  /** From the end of a fault until everything accepted before that was delivered; the longest of them. */
  recoveryMs: number;
};

export function figuresOf(input: {
  answers: readonly Answer[];
  webhooks: readonly SentWebhook[];
  owedBy: ReadonlyMap<string, readonly string[]>;
  endpoints: ReadonlyMap<string, Endpoint>;
  faults: readonly Fault[];
}): Figures {
  const answered = input.answers.filter(({ outcome }) => outcome !== 'refused' && outcome !== 'reset');
  const [first] = input.faults;
  const repaired = input.faults.filter(({ endedAt }) => endedAt < Infinity);
  const faultAt = first?.startedAt ?? Infinity;
  return {
    slowestAnswerMs: Math.round(Math.max(0, ...answered.map(({ tookMs }) => tookMs))),
    p99Ms: p99Of(answered.filter(({ sentAt }) => sentAt >= faultAt + 1_000)),
    p99BeforeMs: p99Of(answered.filter(({ sentAt, tookMs }) => sentAt + tookMs < faultAt)),
    recoveryMs: Math.round(Math.max(0, ...repaired.map((fault) => recoveryOf(fault, input)))),
  };
}

function p99Of(answers: readonly Answer[]): number {
  const times = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0);
}

function recoveryOf(
  fault: Fault,
  { webhooks, owedBy, endpoints }: Pick<Parameters<typeof figuresOf>[0], 'webhooks' | 'owedBy' | 'endpoints'>,
): number {
  let last = fault.endedAt;
  for (const { ids, projectId, acceptedAt } of webhooks) {
    if (acceptedAt === undefined || acceptedAt > fault.endedAt) continue;
    const [id] = ids;
    for (const endpointId of owedBy.get(projectId) ?? []) {
      const success = endpoints
        .get(endpointId)
        ?.arrivals.get(String(id))
        ?.find(({ answered }) => answered === 200);
      if (success && success.at > last) last = success.at;
    }
  }
  return last - fault.endedAt;
}

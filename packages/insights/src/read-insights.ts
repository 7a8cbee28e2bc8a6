import type { Queryable } from '@hqrelay/db/queryable';
import { bucketMs, startOfBucket } from '@hqrelay/db/queries/stale-statistics';
import type { Period, ProjectFacts } from '@hqrelay/domain/insights/facts';
import { findInsights } from '@hqrelay/domain/insights/find-insights';
import { formatSummary, type Statement } from '@hqrelay/domain/insights/model/check-answer';
import type { Finding } from '@hqrelay/domain/insights/finding';
import { wordingForPeople } from '@hqrelay/domain/insights/wording';
import type { ModelOptions } from './ask-model.ts';
import { readFacts } from './read-facts.ts';
import type { AskedProject } from './read-request-facts.ts';
import type { Summary, SummarizeDeps } from './summarize.ts';

const dayMs = 86_400_000;
/** How long a period may be, in days. */
const periodDaysMax = 31;

/** Why a period cannot be looked at; null for one that can. Times in ms since epoch. */
export function periodProblem({ since, until }: { since: number; until: number }): string | null {
  if (since >= until) return 'since: it must be before until';
  return until - since > periodDaysMax * dayMs ? `since: a period has at most ${periodDaysMax} days` : null;
}

/** The last day when neither end is given. */
export function periodAsked({
  since,
  until,
  now,
}: {
  since?: number | undefined;
  until?: number | undefined;
  now: number;
}): { since: number; until: number } {
  const end = Math.min(until ?? now, now);
  return { since: since ?? end - dayMs, until: end };
}

/** It begins on a half hour, as the counted statistics do, and ends on one unless it ends now. */
function wholePeriod({ since, until, now }: { since: number; until: number; now: number }): Period {
  const start = startOfBucket(since);
  const end = Math.min(now, Math.ceil(until / bucketMs) * bucketMs);
  const lengthMs = Math.ceil((end - start) / bucketMs) * bucketMs;
  return { since: start, until: end, previousSince: start - lengthMs };
}

export type InsightsDeps = {
  /** May be a replica. */
  reads: Queryable;
  /** Of the primary. */
  pool: Queryable;
  /** Null where no model is configured. */
  model: ModelOptions | null;
};

export type AskedInsights = {
  project: AskedProject;
  /** ms since epoch, like `until` and `now`. */
  since: number;
  until: number;
  now: number;
  /** Whether the reader may see what endpoints answered. */
  showsAnswers: boolean;
  wantsSummary: boolean;
};

/** As the API answers them, with times in ms since epoch. */
export type Insights = {
  since: number;
  until: number;
  findings: Finding[];
  summary: string | null;
  causes: Statement[];
  nextSteps: Statement[];
  note: string | null;
};

/** What is noteworthy about a project in a period, as SQL tells it, and what a model makes of that. */
export async function readInsights(
  { reads, pool, model }: InsightsDeps,
  asked: AskedInsights,
): Promise<Insights> {
  const { project, showsAnswers, wantsSummary } = asked;
  const period = wholePeriod(asked);
  const facts = await readFacts(reads, { project, period, showsAnswers });
  const written = model && wantsSummary ? await write({ pool, model }, facts) : none;
  return {
    since: period.since,
    until: period.until,
    findings: findInsights(facts, wordingForPeople),
    summary: formatSummary(written.statements?.summary ?? []),
    causes: written.statements?.causes ?? [],
    nextSteps: written.statements?.nextSteps ?? [],
    note: written.note,
  };
}

const none = { statements: null, note: null };

/** Loads the SDK when a summary is asked for first: every command of the command line would wait half a second for it. */
async function write(deps: SummarizeDeps, facts: ProjectFacts): Promise<Summary> {
  const { summarize } = await import('./summarize.ts');
  return summarize(deps, facts);
}

/** Within what a browser and a proxy wait for. */
const modelTimeoutMs = 20_000;

/** The model of a config, which `fetch` sends the requests to; null without a key. */
export function modelOf(
  config: { anthropicApiKey: string | undefined; anthropicBaseUrl: string; insightsModel: string },
  fetch: ModelOptions['fetch'],
): ModelOptions | null {
  const { anthropicApiKey: apiKey, anthropicBaseUrl: baseUrl, insightsModel: model } = config;
  return apiKey === undefined ? null : { apiKey, baseUrl, model, timeoutMs: modelTimeoutMs, fetch };
}

import type { Queryable } from '@hqrelay/db/queryable';
import { readRequestTexts } from '@hqrelay/db/queries/insight-payloads';
import {
  claimInsightRequest,
  endInsightRequest,
  readInsightSummary,
  storeInsightSummary,
  type InsightClaim,
} from '@hqrelay/db/queries/insight-summaries';
import type { ProjectFacts } from '@hqrelay/domain/insights/facts';
import { checkAnswer, type Statements } from '@hqrelay/domain/insights/model/check-answer';
import { createQuestion, type Question } from '@hqrelay/domain/insights/model/question';
import { askModel, outputTokensMax, type ModelOptions, type ModelReply, type Usage } from './ask-model.ts';

/** Where `statements` is null, `note` says why. */
export type Summary = { statements: Statements; note: null } | { statements: null; note: string };

export type SummarizeDeps = {
  /** Of the primary. */
  pool: Queryable;
  model: ModelOptions;
};

/** For each project and day of UTC. */
const bounds = { requestsPerDay: 50, tokensPerDay: 300_000 };

/** After a failure that a moment may heal, and after an answer of no use. */
const pauseMs = { unavailable: 60_000, useless: 600_000 };

/** What the model says about the facts of a project: stored for the same question, else asked for. */
export async function summarize(deps: SummarizeDeps, facts: ProjectFacts): Promise<Summary> {
  const { pool, model } = deps;
  const { projectId } = facts;
  const question = await questionOf(deps, facts);
  if (question.findingIds.size === 0) return { statements: noStatements, note: null };
  const stored = await readInsightSummary(pool, { projectId, questionId: question.id });
  // Checked again, because a later version may show less.
  const kept = stored === undefined ? null : checkAnswer(stored, question);
  if (kept) return { statements: kept, note: null };
  const tokens = tokensOf(question);
  const leaseMs = model.timeoutMs + 5_000;
  const claim = await claimInsightRequest(pool, projectId, { tokens, leaseMs, bounds });
  return claim.kind === 'claimed'
    ? ask(deps, { projectId, question, tokens, day: claim.day })
    : without(noteOf(claim));
}

const noStatements: Statements = { summary: [], causes: [], nextSteps: [] };

function without(note: string): Summary {
  return { statements: null, note };
}

async function questionOf({ pool, model }: SummarizeDeps, facts: ProjectFacts): Promise<Question> {
  const examples = facts.endpoints.flatMap(({ failures }) =>
    failures.flatMap(({ exampleIds }) => exampleIds.slice(0, 1)),
  );
  const requests = await readRequestTexts(pool, examples);
  return createQuestion(facts, model.model, (webhookId) => requests.get(webhookId) ?? null);
}

/** No tokenizer makes more tokens than bytes of a text; two bytes for each is far above English and JSON. */
function tokensOf({ instructions, document }: Question): number {
  return Math.ceil(Buffer.byteLength(instructions + document) / 2) + outputTokensMax;
}

type Claimed = { projectId: string; question: Question; tokens: number; day: string };

async function ask(
  { pool, model }: SummarizeDeps,
  { projectId, question, tokens, day }: Claimed,
): Promise<Summary> {
  const reply = await askModel(model, question);
  const statements = reply.kind === 'answered' ? checkAnswer(reply.answer, question) : null;
  const failure = failureOf(reply, statements);
  if (statements && failure === null) {
    await storeInsightSummary(pool, { projectId, questionId: question.id, model: model.model, statements });
  }
  const isUseless = reply.kind !== 'unavailable';
  await endInsightRequest(pool, {
    projectId,
    day,
    unusedTokens: tokens - costOf(reply, tokens),
    failure,
    pauseMs: isUseless ? pauseMs.useless : (reply.retryAfterMs ?? pauseMs.unavailable),
  });
  return statements && failure === null ? { statements, note: null } : without(failure ?? '');
}

/** An answer without usage, and one that was cut off, may have cost all that was reserved. */
function costOf(reply: ModelReply, reserved: number): number {
  if (reply.kind === 'unavailable') return reply.mayBeBilled ? reserved : 0;
  return reply.usage === null ? reserved : sumOf(reply.usage);
}

function sumOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** Why a reply brings no summary, as a sentence of ours; null where it brings one. */
function failureOf(reply: ModelReply, statements: Statements | null): string | null {
  switch (reply.kind) {
    case 'unavailable':
      return `There is no summary: the model ${unavailableWords(reply.statusCode)}. The findings do not depend on it.`;
    case 'useless':
      return `There is no summary: ${uselessWords[reply.reason]}. The findings do not depend on it.`;
    case 'answered':
      if (!statements)
        return `There is no summary: ${uselessWords.malformed}. The findings do not depend on it.`;
      return statements.summary.length > 0
        ? null
        : 'There is no summary: no statement of the model followed from a finding. The findings do not depend on it.';
  }
}

function unavailableWords(statusCode: number | null): string {
  if (statusCode === null) return 'did not answer';
  if (statusCode === 429) return 'takes no more requests of this key at the moment (HTTP 429)';
  if (statusCode === 401 || statusCode === 403)
    return `does not accept ANTHROPIC_API_KEY (HTTP ${statusCode})`;
  return `is not available (HTTP ${statusCode})`;
}

const uselessWords = {
  refused: 'the model refused to write one',
  cut_off: 'the answer of the model was cut off',
  malformed: 'the answer of the model did not have the form that was asked for',
} as const;

function noteOf(claim: Exclude<InsightClaim, { kind: 'claimed' }>): string {
  if (claim.kind === 'spent') {
    return `There is no summary: the project has used its ${bounds.requestsPerDay} requests or ${bounds.tokensPerDay.toLocaleString('en')} tokens of today.`;
  }
  return claim.failure ?? 'A summary is being written: ask again in a few seconds.';
}

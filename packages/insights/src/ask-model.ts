import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { modelAnswer } from '@hqrelay/domain/insights/model/check-answer';
import { z } from 'zod';
import { createBoundedFetch } from './bounded-fetch.ts';

export type ModelOptions = {
  apiKey: string;
  baseUrl: string;
  /** An alias or an exact version. */
  model: string;
  timeoutMs: number;
  /** What sends the request; the `fetch` of this process unless given. */
  fetch?: typeof fetch | undefined;
};

/** The tokens that an answer says it was billed for. */
export type Usage = { inputTokens: number; outputTokens: number };

export type ModelReply =
  | { kind: 'answered'; answer: unknown; usage: Usage }
  /** The model answered, and the answer is of no use. */
  | { kind: 'useless'; reason: 'refused' | 'cut_off' | 'malformed'; usage: Usage | null }
  | {
      kind: 'unavailable';
      /** Null: no answer, or one that is no HTTP. */
      statusCode: number | null;
      retryAfterMs: number | null;
      /** Whether the model may have worked before the connection ended. */
      mayBeBilled: boolean;
    };

export const outputTokensMax = 4_000;
const answerBytesMax = 256 << 10;
const retryAfterMaxMs = 600_000;

const tokens = z.int().min(0).max(10_000_000);
/** The fields of a message that are read. The server is not trusted to send them. */
const message = z.object({
  stop_reason: z.string(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  usage: z.object({ input_tokens: tokens, output_tokens: tokens }),
});

/** Asks the model once, within the timeout. Never rejects; no text of the server is in a reply but `answer`. */
export async function askModel(
  options: ModelOptions,
  question: { instructions: string; document: string },
): Promise<ModelReply> {
  const client = new Anthropic({
    apiKey: options.apiKey,
    baseURL: options.baseUrl,
    // A second try would be a second request of the project's daily bound.
    maxRetries: 0,
    timeout: options.timeoutMs,
    fetch: createBoundedFetch(options.fetch ?? fetch, answerBytesMax),
    // The SDK logs requests where ANTHROPIC_LOG asks for it.
    logLevel: 'off',
  });
  try {
    const received: unknown = await client.messages.create(
      {
        model: options.model,
        max_tokens: outputTokensMax,
        system: question.instructions,
        messages: [{ role: 'user', content: question.document }],
        output_config: { format: zodOutputFormat(modelAnswer) },
      },
      // The timeout of the SDK ends with the headers; this one covers the body.
      { signal: AbortSignal.timeout(options.timeoutMs) },
    );
    return replyOf(received);
  } catch (error) {
    return unavailable(error);
  }
}

function replyOf(received: unknown): ModelReply {
  const parsed = message.safeParse(received);
  if (!parsed.success) return { kind: 'useless', reason: 'malformed', usage: null };
  const { stop_reason: stopReason, content, usage: billed } = parsed.data;
  const usage = { inputTokens: billed.input_tokens, outputTokens: billed.output_tokens };
  if (stopReason === 'refusal') return { kind: 'useless', reason: 'refused', usage };
  if (stopReason !== 'end_turn') return { kind: 'useless', reason: 'cut_off', usage };
  const text = content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  try {
    return { kind: 'answered', answer: JSON.parse(text), usage };
  } catch {
    return { kind: 'useless', reason: 'malformed', usage };
  }
}

function unavailable(error: unknown): ModelReply {
  const refusal: APIError | null = error instanceof APIError ? error : null;
  const statusCode = refusal?.status ?? null;
  const seconds = Number(refusal?.headers?.get('retry-after') ?? Number.NaN);
  return {
    kind: 'unavailable',
    statusCode,
    retryAfterMs: seconds > 0 ? Math.min(seconds * 1_000, retryAfterMaxMs) : null,
    mayBeBilled: statusCode === null,
  };
}

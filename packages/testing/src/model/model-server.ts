import type { HowToAnswer, RecordedRequest, RecordingEndpoint } from '../recording-endpoint.ts';
import { startRecordingEndpoint } from '../recording-endpoint.ts';

export type ModelServer = Omit<RecordingEndpoint, 'url' | 'answerWith'> & {
  /** The value of ANTHROPIC_BASE_URL. */
  baseUrl: string;
  /** How valid requests are answered from now on; others are answered 400, as the API does. */
  answerWith: (how: HowToAnswer | ((request: RecordedRequest) => HowToAnswer)) => void;
};

/** A server on loopback that speaks the Messages API of Anthropic as a test decides. */
export async function startModelServer(): Promise<ModelServer> {
  const { url, answerWith, ...endpoint } = await startRecordingEndpoint();
  const decide = (how: HowToAnswer | ((request: RecordedRequest) => HowToAnswer)) =>
    answerWith((request) => {
      const problem = problemOf(request);
      if (problem) return apiError(400, 'invalid_request_error', problem);
      return typeof how === 'function' ? how(request) : how;
    });
  decide(apiError(500, 'api_error', 'the test has not decided on an answer'));
  return { ...endpoint, baseUrl: new URL(url).origin, answerWith: decide };
}

/** A message of the model that consists of this text. */
export function messageOf(
  text: string,
  { stopReason = 'end_turn', inputTokens = 900, outputTokens = 200 } = {},
): HowToAnswer {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'msg_test',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [{ type: 'text', text }],
      stop_reason: stopReason,
      stop_sequence: null,
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    }),
  };
}

/** An error in the form of the API, such as 529 `overloaded_error`. */
export function apiError(
  statusCode: number,
  type: string,
  text: string,
  headers: Record<string, string> = {},
): HowToAnswer {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ type: 'error', error: { type, message: text } }),
  };
}

function problemOf({ method, path, headers, body }: RecordedRequest): string | undefined {
  if (method !== 'POST' || path !== '/v1/messages') return `no operation ${method} ${path}`;
  if (headers['anthropic-version'] === undefined) return 'anthropic-version: header is required';
  if (headers['x-api-key'] === undefined && headers.authorization === undefined) return 'no API key';
  const {
    model,
    max_tokens: tokensMax,
    messages,
    stream,
  } = JSON.parse(body.toString()) as Record<string, unknown>;
  if (typeof model !== 'string' || typeof tokensMax !== 'number') return 'model and max_tokens are required';
  if (!Array.isArray(messages) || messages.length === 0) return 'messages: at least one message is required';
  return stream === true ? 'this server does not stream' : undefined;
}

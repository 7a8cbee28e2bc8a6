import type { AnswerOf, InputOf, Operation } from './operations.ts';

const timeoutMs = 30_000;

/** An answer of the API that is no success, or no answer at all (`statusCode` 0). */
export class ApiError extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly correlationId: string | null;

  constructor(statusCode: number, code: string, message: string, correlationId: string | null = null) {
    super(message);
    this.name = 'ApiError';
    this.statusCode = statusCode;
    this.code = code;
    this.correlationId = correlationId;
  }
}

/** One request to the API, typed by its route table. Throws an ApiError. */
export async function call<O extends Operation>(
  operation: O,
  input: InputOf<O>,
  signal?: AbortSignal,
): Promise<AnswerOf<O>> {
  const [method = '', path = ''] = operation.split(' ');
  const response = await request(method, urlOf(path, input), input.body, signal);
  if (!response.ok) throw await errorOf(response);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return (isJson ? await response.json() : await response.blob()) as AnswerOf<O>;
}

function urlOf(path: string, { params = {}, query = {} }: { params?: unknown; query?: unknown }): string {
  const given = params as Record<string, string>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const search = new URLSearchParams(
    Object.entries(query as Record<string, string | undefined>).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  ).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

async function request(
  method: string,
  url: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(url, {
      method: method.toUpperCase(),
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      headers: {
        accept: 'application/json',
        // The API refuses a change of a session without it: a form of another site cannot set it.
        'x-hqrelay-console': '1',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw deadline.aborted
      ? new ApiError(0, 'console.timeout', `The console did not answer within ${timeoutMs / 1_000} seconds`)
      : new ApiError(0, 'console.unreachable', 'The console cannot be reached');
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const correlationId = response.headers.get('x-correlation-id');
  const parsed = (await response.json().catch(() => undefined)) as
    { error?: { code?: string; message?: string } } | undefined;
  const { code = 'console.failed', message = `The console answered ${response.status}` } =
    parsed?.error ?? {};
  return new ApiError(response.status, code, message, correlationId);
}

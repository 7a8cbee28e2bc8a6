import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { open, parseSecretKeys, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import { genericScheme, genericTimestampScheme, signInbound } from '@hqrelay/domain/inbound/signature';
import { CommandFailure } from './cli.ts';

export type SentWebhook = {
  webhookId: string;
  eventType?: string | undefined;
  contentType: string;
  body: Buffer;
};

/** The receiver's answer; without one `statusCode` is null and `error` gives the reason. */
export type SendAnswer = {
  statusCode: number | null;
  /** The `id` of the 202. */
  id: string | null;
  replayed: boolean;
  webhookId: string;
  latencyMs: number;
  error: string | null;
};

/** Longer than any answer of the receiver may take. */
const answerTimeoutMs = 10_000;

/**
 * Signs and posts as the project's provider would, with its newest active secret. Throws CommandFailure when no secret can be
 * opened. A refused or unanswered webhook is returned as an answer.
 */
export function createProvider(
  config: { secretsKey: string },
  project: ProjectConfig,
  url: string,
): (webhook: SentWebhook) => Promise<SendAnswer> {
  const scheme = project.scheme ?? (project.requireTimestamp ? genericTimestampScheme : genericScheme);
  const key = openNewestSecret(config, project);
  return async ({ webhookId, eventType, contentType, body }) => {
    const headers = {
      'content-type': headerText(contentType),
      'user-agent': 'hqrelay-cli',
      'x-webhook-id': headerText(webhookId),
      ...(eventType !== undefined && { 'x-event-type': headerText(eventType) }),
    };
    const signature = signInbound(scheme, key, { body, now: Date.now(), headers });
    const startedAt = performance.now();
    const answer = await post(url, { ...headers, ...signature }, body).then(readAnswer, unanswered);
    return { ...answer, webhookId, latencyMs: Math.round(performance.now() - startedAt) };
  };
}

type Response = { statusCode: number; headers: IncomingHttpHeaders; text: string };
type Answer = Omit<SendAnswer, 'webhookId' | 'latencyMs'>;

/** Uses node:http, because fetch refuses some ports. Throws when there is no answer. */
async function post(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Response> {
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
  });
  return { statusCode: response.statusCode ?? 0, headers: response.headers, text: await readText(response) };
}

/** Node writes a header as Latin-1, one byte for each character: encodes the text so that those bytes are its UTF-8. */
function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function openNewestSecret(config: { secretsKey: string }, project: ProjectConfig): string {
  const [newest] = project.secrets;
  if (!newest) {
    throw new CommandFailure('the project has no active secret: hqrelay secret rotate gives it a new one');
  }
  try {
    return open(parseSecretKeys(config.secretsKey), newest, `project_secrets:${newest.id}`);
  } catch (error) {
    if (error instanceof SecretUnreadable) throw new CommandFailure(error.message);
    throw error;
  }
}

function readAnswer({ statusCode, headers, text }: Response): Answer {
  const { id, error } = readBody(text);
  const isAccepted = statusCode >= 200 && statusCode <= 299;
  return {
    statusCode,
    id,
    replayed: headers['idempotent-replayed'] === 'true',
    error: isAccepted ? null : (error ?? `HTTP ${statusCode}`),
  };
}

function unanswered(reason: unknown): Answer {
  return { statusCode: null, id: null, replayed: false, error: describeError(reason) };
}

function readBody(text: string): { id: string | null; error: string | null } {
  try {
    const answer = JSON.parse(text) as { id?: unknown; error?: { code?: unknown; message?: unknown } };
    const { code, message } = answer.error ?? {};
    const error =
      typeof message === 'string' ? `${typeof code === 'string' ? `${code}: ` : ''}${message}` : null;
    return { id: typeof answer.id === 'string' ? answer.id : null, error };
  } catch {
    return { id: null, error: null };
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no answer within ${answerTimeoutMs} ms`;
  if (error instanceof AggregateError) return error.errors.map(describeError).join('; ');
  return error.message || error.name;
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { open, parseSecretKeys, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import { providerOf } from '@hqrelay/domain/providers/provider-of';
import type { Scheme } from '@hqrelay/domain/providers/scheme';
import { signRequest, type Draft, type SignedDraft } from '@hqrelay/domain/providers/signature/sign-request';
import type { ProjectKeys } from '@hqrelay/domain/providers/signature/verify-request';
import { CommandFailure } from './cli.ts';
import { draftWebhook, type SentWebhook } from './draft-webhook.ts';

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
 * Signs and posts as the project's provider would, with its newest active secret. `signedUrl` is the webhook URL that the
 * provider knows, `url` where the request is sent. Throws CommandFailure when no secret can be opened, or only the provider
 * can sign. A refused or unanswered webhook is returned as an answer.
 */
export function createProvider(
  config: { secretsKey: string },
  project: ProjectConfig,
  { url, signedUrl }: { url: string; signedUrl: string },
): (webhook: SentWebhook) => Promise<SendAnswer> {
  const { preset, schemes } = providerOf(project);
  const key = openNewestSecret(config, project);
  const settings = openSettings(config, project);
  return async (webhook) => {
    const now = Date.now();
    const draft = draftWebhook(preset, signedUrl, webhook, now);
    const signed = sign(schemes, { secrets: [{ id: 'newest', key }], settings }, draft, now);
    const target = url + signed.url.slice(signedUrl.length);
    const startedAt = performance.now();
    const answer = await post(target, signed.headers, draft.body).then(readAnswer, unanswered);
    const latencyMs = Math.round(performance.now() - startedAt);
    return { ...answer, webhookId: webhook.webhookId, latencyMs };
  };
}

function sign(schemes: readonly Scheme[], keys: ProjectKeys, draft: Draft, now: number): SignedDraft {
  try {
    return signRequest(schemes, keys, draft, now);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandFailure(`cannot sign as the provider: ${error.message}`);
    throw error;
  }
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

function openNewestSecret(config: { secretsKey: string }, project: ProjectConfig): string {
  const [newest] = project.secrets;
  if (!newest) {
    throw new CommandFailure('the project has no active secret: hqrelay secret rotate gives it a new one');
  }
  return openValue(config, newest, `project_secrets:${newest.id}`);
}

function openSettings(config: { secretsKey: string }, project: ProjectConfig): Record<string, string> {
  const { sealedSettings: sealed, settingsKeyId: keyId, id } = project;
  if (sealed === null || keyId === null) return {};
  return JSON.parse(openValue(config, { sealed, keyId }, `projects.settings:${id}`)) as Record<
    string,
    string
  >;
}

function openValue(
  config: { secretsKey: string },
  value: { sealed: string; keyId: string },
  row: string,
): string {
  try {
    return open(parseSecretKeys(config.secretsKey), value, row);
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

import { genericScheme, genericTimestampScheme } from '@hqrelay/domain/providers/generic';
import type { Scheme } from '@hqrelay/domain/providers/scheme';
import { signRequest } from '@hqrelay/domain/providers/signature/sign-request';
import type { SeededProject } from './seed.ts';

export type ProviderAnswer = {
  statusCode: number;
  headers: Headers;
  body: { id?: string; status?: string; error?: { code: string; message: string } };
  text: string;
};

/** The headers with which a sender signs a body at `now` (ms). */
export function signInbound(
  scheme: Scheme,
  key: string,
  { body, now }: { body: Buffer; now: number },
): Record<string, string> {
  const draft = { method: 'POST', url: '', headers: {}, body };
  return signRequest([scheme], { secrets: [{ id: 'secret', key }] }, draft, now).headers;
}

/** Signs as the provider of a generic project does. */
export function signAsProvider(project: SeededProject, body: Buffer): Record<string, string> {
  const scheme = project.requireTimestamp ? genericTimestampScheme : genericScheme;
  return signInbound(scheme, project.secret, { body, now: Date.now() });
}

/** Posts a signed webhook. `headers` may replace any of those that are made here. */
export async function postWebhook(
  receiverUrl: string,
  project: SeededProject,
  options: {
    body?: string | Buffer;
    webhookId?: string;
    headers?: Record<string, string>;
    query?: string;
  } = {},
): Promise<ProviderAnswer> {
  const body = Buffer.from(options.body ?? '{"event":"payment.captured"}');
  const query = options.query ? `?${options.query}` : '';
  const response = await fetch(`${receiverUrl}/v1/webhooks/${project.id}${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signAsProvider(project, body),
      ...(options.webhookId !== undefined && { 'x-webhook-id': options.webhookId }),
      ...options.headers,
    },
    body,
  });
  const text = await response.text();
  return {
    statusCode: response.status,
    headers: response.headers,
    body: JSON.parse(text) as ProviderAnswer['body'],
    text,
  };
}

import type { HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import {
  contextOfWebhook,
  formatTraceparent,
  providerContext,
  spanIdOf,
} from '@hqrelay/domain/delivery/trace-context';
import { deliveryHeaders } from '@hqrelay/domain/delivery/outbound-signing';
import { restoreCredentials } from '@hqrelay/domain/inbound/forwarded-credentials';
import { maskExchange, secretsSent } from '@hqrelay/domain/secrets/mask-secrets';
import type { Sender } from '@hqrelay/outbound/send-request';
import type { Envelope } from '@hqrelay/queue/messages';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { attemptTimeoutMs } from '@hqrelay/domain/delivery/attempt-timeout';
import type { InTurn } from './turn/take-turn.ts';

export type PostWebhookDeps = {
  sender: Sender;
  secrets: OpenedSecrets;
  /** Whether the endpoint gets the context of the attempt's span. */
  isTraced: boolean;
};

/** Posts the webhook to its endpoint. Secrets that the endpoint repeats in its answer are masked. */
export function postWebhook(
  deps: PostWebhookDeps,
  { delivery: { envelope, fields, body }, project, endpoint, turn }: InTurn,
  { id, startedAt: now }: { id: string; startedAt: number },
): Promise<HttpExchange> {
  const projectSecrets = () => deps.secrets.ofProject(project, now);
  const credentials =
    endpoint.forwardCredentials && envelope.credentials
      ? restoreCredentials(envelope.credentials, projectSecrets())
      : [];
  const fixedHeaders = deps.secrets.headersOf(endpoint);
  const signingSecrets = deps.secrets.ofEndpoint(endpoint, now);
  const headers = deliveryHeaders({
    providerHeaders: credentials.length === 0 ? envelope.headers : [...envelope.headers, ...credentials],
    fixedHeaders,
    signingKeys: signingSecrets.map(({ signingKey }) => signingKey),
    webhookLogId: envelope.id,
    attemptNum: fields.attemptNum,
    correlationId: envelope.correlationId,
    sequence: turn?.sequence,
    body,
    now,
    traceparent: deps.isTraced ? traceparentOf(envelope, id) : undefined,
  });
  const sent = deps.sender.send({
    url: endpoint.url,
    headers,
    body,
    timeoutMs: attemptTimeoutMs(endpoint),
    tls: deps.secrets.tlsOf(endpoint),
  });
  const secrets = () => {
    const keys = [...signingSecrets, ...projectSecrets()].map(({ key }) => key);
    return secretsSent({ headers, fixedHeaders, credentials, secrets: keys });
  };
  return sent.then((exchange) => maskExchange(exchange, secrets));
}

/** The span of an attempt has the last bytes of the attempt's id. */
function traceparentOf({ id, headers }: Envelope, attemptId: string): string {
  const receipt = contextOfWebhook(id, providerContext(headers));
  return formatTraceparent({ ...receipt, spanId: spanIdOf(attemptId) });
}

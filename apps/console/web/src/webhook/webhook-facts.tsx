import type { WebhookDetails } from '../api/entities.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Card } from '../components/page.tsx';
import { formatBytes } from '../display/number-format.ts';

/** The ids of this webhook at the relay and at its sender. */
export function WebhookFacts({ webhook }: { webhook: WebhookDetails['webhook'] }) {
  const facts = [
    ["The relay's id", webhook.id, ''],
    ["The provider's id", webhook.webhookId, ''],
    ['Correlation id', webhook.correlationId, ''],
    ['Event type', webhook.eventType, 'the request names none'],
    ['SHA-256 of the payload', webhook.payloadSha256, 'the body was not read'],
    ['Sent from', webhook.remoteAddr?.replace(/^::ffff:/, '') ?? null, 'the proxy named no address'],
  ] as const;
  return (
    <Card title="Facts">
      <dl className="m-0 grid gap-2.5">
        {facts.map(([name, value, whyNot]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="m-0 flex items-start justify-between gap-2">
              {value === null ? (
                <span className="text-muted">– ({whyNot})</span>
              ) : (
                <span className="min-w-0 font-mono text-xs break-all">{value}</span>
              )}
              {value !== null && <CopyButton text={value} />}
            </dd>
          </div>
        ))}
        <div>
          <dt className="text-xs text-muted">Size</dt>
          <dd className="m-0">{formatBytes(webhook.payloadBytes)}</dd>
        </div>
      </dl>
    </Card>
  );
}

import { Link } from '@tanstack/react-router';
import type { WebhookDetails } from '../../api/entities.ts';
import { formatBytes, plural } from '../../display/number-format.ts';
import { explainReason, webhookStatuses } from '../../display/states.ts';
import { Time } from '../../display/zone.tsx';
import { Step } from './step.tsx';
import { VerifiedWith } from './verified-with.tsx';

type Webhook = WebhookDetails['webhook'];
type Props = Pick<WebhookDetails, 'webhook' | 'verifiedWith'>;

/** From the socket to the queue. */
export function ReceivedStory({ webhook, verifiedWith }: Props) {
  const { remoteAddr, payloadBytes, receivedAt, requestCount } = webhook;
  return (
    <>
      <Step tone="good" title="Received" time={<Time at={receivedAt} />}>
        {formatBytes(payloadBytes)}
        {remoteAddr !== null && ` from ${remoteAddr.replace(/^::ffff:/, '')}`}
        {requestCount > 1 && `; this row stands for ${plural(requestCount, 'request')}`}
      </Step>
      {webhook.status === 'rejected' ? (
        <Rejected webhook={webhook} />
      ) : (
        <Admitted webhook={webhook} verifiedWith={verifiedWith} />
      )}
    </>
  );
}

function Rejected({ webhook: { reason } }: { webhook: Webhook }) {
  return (
    <Step tone="bad" title="Rejected">
      {reason === null ? webhookStatuses.rejected.meaning : explainReason(reason)}
      {reason !== null && <span className="block font-mono text-xs">{reason}</span>}
    </Step>
  );
}

function Admitted({ webhook, verifiedWith }: Props) {
  const { status, reason, endpointIds, duplicateOf, projectId } = webhook;
  const { meaning, tone, label } = webhookStatuses[status];
  return (
    <>
      <Step tone="good" title="Verified">
        <VerifiedWith projectId={projectId} receivedAt={webhook.receivedAt} secretId={verifiedWith} />
      </Step>
      {status === 'queued' ? (
        <Step tone="good" title={endpointIds.length === 0 ? 'Accepted, for no endpoint' : 'Queued'}>
          {endpointIds.length === 0
            ? 'No enabled endpoint takes this event type, so nothing is delivered. Add an endpoint, or widen an event filter, then replay it.'
            : `For ${plural(endpointIds.length, 'endpoint')}.`}
        </Step>
      ) : (
        <Step tone={tone} title={<span className="capitalize">{label}</span>}>
          {meaning}
          {reason !== null && <span className="block">{explainReason(reason)}</span>}
          {duplicateOf !== null && (
            <Link
              to="/projects/$projectId/webhooks/$webhookId"
              params={{ projectId, webhookId: duplicateOf }}
              className="text-accent underline"
            >
              Show the first one
            </Link>
          )}
        </Step>
      )}
    </>
  );
}

import { Link } from '@tanstack/react-router';
import type { ListedWebhook } from '../api/entities.ts';
import { Tag } from '../components/tag.tsx';
import { deliveryStates, webhookStatuses } from '../display/states.ts';
import { RelativeTime, Time } from '../display/zone.tsx';

export function WebhookRow({ webhook }: { webhook: ListedWebhook }) {
  const { id, projectId, eventType, webhookId, receivedAt, requestCount } = webhook;
  return (
    <tr className="relative border-b border-line align-top last:border-0 focus-within:bg-raised hover:bg-raised">
      <td className="hidden w-px py-2.5 sm:table-cell sm:px-4">
        <Time at={receivedAt} />
        <span className="block text-xs text-muted">
          <RelativeTime at={receivedAt} />
        </span>
      </td>
      <td className="max-w-0 py-2.5 pr-2 pl-3 sm:px-4">
        <Link
          to="/projects/$projectId/webhooks/$webhookId"
          params={{ projectId, webhookId: id }}
          data-row
          className="block truncate font-medium text-ink no-underline after:absolute after:inset-0"
        >
          {eventType ?? 'no event type'}
          {requestCount > 1 && ` (${requestCount} requests)`}
        </Link>
        <span className="block truncate font-mono text-xs text-muted">{webhookId}</span>
        <span className="block text-xs text-muted sm:hidden">
          <Time at={receivedAt} /> (<RelativeTime at={receivedAt} />)
        </span>
      </td>
      <td className="w-px py-2.5 pr-3 pl-2 sm:px-4">
        <span className="flex flex-col items-end gap-1 sm:flex-row sm:items-start">
          <Outcome webhook={webhook} />
        </span>
      </td>
    </tr>
  );
}

/** The states of its deliveries; of a webhook that owes none, how it was answered. */
function Outcome({ webhook: { status, deliveries } }: { webhook: ListedWebhook }) {
  const states = Object.entries(deliveryStates).flatMap(([state, shown]) => {
    const count = deliveries[state as keyof typeof deliveryStates] ?? 0;
    return count === 0 ? [] : [{ ...shown, state, count }];
  });
  if (states.length === 0) {
    const { label, tone, meaning } = webhookStatuses[status];
    return (
      <Tag tone={status === 'queued' ? 'plain' : tone} title={meaning}>
        {status === 'queued' ? 'no endpoint' : label}
      </Tag>
    );
  }
  return states.map(({ state, label, tone, count }) => (
    <Tag key={state} tone={tone}>
      {count > 1 ? `${count} ${label}` : label}
    </Tag>
  ));
}

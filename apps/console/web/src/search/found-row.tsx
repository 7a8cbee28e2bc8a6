import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { WebhookDetails } from '../api/entities.ts';
import type { AnswerOf } from '../api/operations.ts';
import { read } from '../api/read.ts';
import { Tag } from '../components/tag.tsx';
import { deliveryStates, webhookStatuses } from '../display/states.ts';
import { RelativeTime, Time } from '../display/zone.tsx';

type Item = AnswerOf<'get /api/v1/search'>['items'][number];

const rowClass =
  'relative flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-0 hover:bg-raised focus-within:bg-raised';
const linkClass = 'min-w-0 font-medium break-all text-ink no-underline after:absolute after:inset-0';

/** One result, with enough facts to choose among several. */
export function FoundRow({ item }: { item: Item }) {
  const webhookId = item.webhookLogId ?? (item.kind === 'webhook' ? item.id : null);
  if (webhookId !== null) return <FoundWebhook item={item} webhookId={webhookId} />;
  const { kind, id, projectId } = item;
  return (
    <li className={rowClass}>
      <Tag>{kind}</Tag>
      {kind === 'endpoint' ? (
        <Link
          to="/projects/$projectId/endpoints/$endpointId"
          params={{ projectId, endpointId: id }}
          data-row
          className={linkClass}
        >
          {id}
        </Link>
      ) : (
        <Link to="/projects/$projectId" params={{ projectId }} data-row className={linkClass}>
          {id}
        </Link>
      )}
      <ProjectName projectId={projectId} />
    </li>
  );
}

function FoundWebhook({ item, webhookId }: { item: Item; webhookId: string }) {
  const { data } = useQuery({
    ...read('get /api/v1/webhooks/{id}', { params: { id: webhookId } }),
    staleTime: 30_000,
  });
  return (
    <li className={rowClass}>
      <Tag>{item.kind}</Tag>
      <Link
        to="/projects/$projectId/webhooks/$webhookId"
        params={{ projectId: item.projectId, webhookId }}
        data-row
        className={linkClass}
      >
        {data ? (data.webhook.eventType ?? data.webhook.webhookId) : item.id}
      </Link>
      {data && <Outcome details={data} />}
      <ProjectName projectId={item.projectId} />
    </li>
  );
}

function Outcome({ details: { webhook, deliveries } }: { details: WebhookDetails }) {
  const states = [...new Set(deliveries.map(({ state }) => state))];
  const { label, tone } = webhookStatuses[webhook.status];
  return (
    <>
      <span className="text-muted">
        <Time at={webhook.receivedAt} /> (<RelativeTime at={webhook.receivedAt} />)
      </span>
      <span className="flex gap-1">
        {webhook.status !== 'queued' && <Tag tone={tone}>{label}</Tag>}
        {states.map((state) => (
          <Tag key={state} tone={deliveryStates[state].tone}>
            {deliveryStates[state].label}
          </Tag>
        ))}
      </span>
    </>
  );
}

function ProjectName({ projectId }: { projectId: string }) {
  const { data } = useQuery({
    ...read('get /api/v1/projects/{projectId}', { params: { projectId } }),
    staleTime: 60_000,
  });
  return <span className="ml-auto text-muted">{data?.name ?? ''}</span>;
}

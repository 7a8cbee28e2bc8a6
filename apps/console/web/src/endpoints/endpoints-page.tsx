import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Endpoint } from '../api/entities.ts';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { useMe } from '../layout/me.ts';
import { AddEndpoint } from './form/add-endpoint.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { heldText } from './held-text.ts';

export function EndpointsPage() {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/endpoints' });
  const { may } = useMe();
  const endpoints = useQuery({
    ...read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
    ...keepRows,
    refetchInterval: 15_000,
  });
  const add = may('operator') && <AddEndpoint projectId={projectId} />;
  return (
    <>
      <PageHead
        title="Endpoints"
        sub="The URLs that webhooks of this project are delivered to."
        actions={add}
      />
      <Shown query={endpoints}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No endpoint yet">
              Webhooks are accepted and stored, and delivered nowhere. Add the URL of your own server.
            </Empty>
          ) : (
            <ul className="m-0 grid list-none gap-2 p-0">
              {items.map((endpoint) => (
                <EndpointRow key={endpoint.id} endpoint={endpoint} />
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  );
}

function EndpointRow({ endpoint }: { endpoint: Endpoint }) {
  const { id, projectId, url, eventTypes, disabledReason, enabled } = endpoint;
  const held = heldText(endpoint);
  return (
    <li className="rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <span className="flex flex-wrap items-center gap-2">
            <Link
              to="/projects/$projectId/endpoints/$endpointId"
              params={{ projectId, endpointId: id }}
              className="font-medium break-all text-ink underline decoration-line-strong underline-offset-2"
            >
              {url}
            </Link>
            <EndpointState endpoint={endpoint} />
          </span>
          <span className="block text-muted">
            {eventTypes.length === 0 ? 'All event types' : eventTypes.join(', ')}
          </span>
          {held !== '' && (
            <Link
              to="/projects/$projectId/webhooks"
              params={{ projectId }}
              search={{ endpointId: id, state: 'held' }}
              className="block w-fit text-accent underline"
            >
              {held}
            </Link>
          )}
          {!enabled && disabledReason !== null && <span className="block text-bad">{disabledReason}</span>}
        </div>
        <EndpointActions endpoint={endpoint} />
      </div>
    </li>
  );
}

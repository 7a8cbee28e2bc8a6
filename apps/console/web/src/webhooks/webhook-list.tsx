import { Link, useNavigate } from '@tanstack/react-router';
import type { QueryOf } from '../api/operations.ts';
import { Button } from '../components/button.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { Pager } from '../components/pager.tsx';
import { plural } from '../display/number-format.ts';
import { useRowKeys } from './use-row-keys.ts';
import { useWebhookPage } from './use-webhook-page.ts';
import { WebhookRow } from './webhook-row.tsx';

type Props = {
  projectId: string;
  query: QueryOf<'get /api/v1/projects/{projectId}/webhooks'>;
  cursor: string | undefined;
  isFiltered: boolean;
};

export function WebhookList({ projectId, query, cursor, isFiltered }: Props) {
  const { page, shown, newCount, showNew } = useWebhookPage({ projectId, query, cursor });
  const navigate = useNavigate({ from: '/projects/$projectId/webhooks' });
  const list = useRowKeys();
  const goTo = (next: string | undefined) =>
    void navigate({
      search: (search) => ({ ...search, cursor: next }),
    });
  return (
    <Shown query={page}>
      {({ nextCursor, prevCursor }) => (
        <>
          <div aria-live="polite" className="sticky top-16 z-10 flex justify-center">
            {newCount > 0 && (
              <Button look="primary" small className="mb-2 rounded-full shadow" onClick={showNew}>
                ↑ {plural(newCount, 'new webhook')}
              </Button>
            )}
          </div>
          {shown.length === 0 ? (
            <NoRows isFiltered={isFiltered} hasMore={nextCursor !== null} projectId={projectId} />
          ) : (
            <div className="overflow-hidden rounded-lg border border-line bg-surface">
              <table className={`w-full border-collapse ${page.isPlaceholderData ? 'opacity-60' : ''}`}>
                <thead className="sr-only sm:not-sr-only sm:table-header-group">
                  <tr className="border-b border-line text-left text-xs text-muted">
                    <th className="hidden px-4 py-2 font-medium sm:table-cell">Received</th>
                    <th className="px-4 py-2 font-medium">Event</th>
                    <th className="px-4 py-2 font-medium">Outcome</th>
                  </tr>
                </thead>
                <tbody ref={list}>
                  {shown.map((webhook) => (
                    <WebhookRow key={webhook.id} webhook={webhook} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <Pager
            newer={prevCursor === null ? undefined : () => goTo(prevCursor)}
            older={nextCursor === null ? undefined : () => goTo(nextCursor)}
            newest={cursor === undefined ? undefined : () => goTo(undefined)}
          />
        </>
      )}
    </Shown>
  );
}

function NoRows({
  isFiltered,
  hasMore,
  projectId,
}: {
  isFiltered: boolean;
  hasMore: boolean;
  projectId: string;
}) {
  if (hasMore) {
    return (
      <Empty title="Nothing on this page">
        The search has not reached the oldest webhooks yet: continue with Older.
      </Empty>
    );
  }
  return isFiltered ? (
    <Empty title="No webhook matches">
      <p>Remove a filter or choose a longer period.</p>
      <Link to="/projects/$projectId/webhooks" params={{ projectId }} className="text-accent underline">
        Show all webhooks
      </Link>
    </Empty>
  ) : (
    <Empty title="No webhook yet">
      <p>
        Give the project’s webhook URL to the provider; the settings say how. A test from the command line:{' '}
        <code className="font-mono text-xs">npm run hqrelay -- send --project {projectId}</code>
      </p>
    </Empty>
  );
}

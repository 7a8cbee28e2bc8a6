import { useNavigate } from '@tanstack/react-router';
import type { ListedWebhook } from '../api/entities.ts';
import type { QueryOf } from '../api/operations.ts';
import { Button } from '../components/button.tsx';
import { Shown } from '../components/states.tsx';
import { Pager } from '../components/pager.tsx';
import { formatCount } from '../display/number-format.ts';
import { useRowKeys } from '../layout/use-row-keys.ts';
import { pageParams } from '../routing/opened-at.ts';
import { NoWebhooks } from './no-webhooks.tsx';
import { useWebhookPage } from './use-webhook-page.ts';
import { WebhookRow } from './webhook-row.tsx';

type Props = {
  projectId: string;
  query: QueryOf<'get /api/v1/projects/{projectId}/webhooks'>;
  cursor: string | undefined;
  openedAt: number;
  isFiltered: boolean;
};

export function WebhookList({ projectId, query, cursor, openedAt, isFiltered }: Props) {
  const { page, shown, newCount, isCapped, showNew } = useWebhookPage({ projectId, query, cursor });
  const navigate = useNavigate({ from: '/projects/$projectId/webhooks' });
  const goTo = (next: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, ...pageParams(next, openedAt) }) });
  return (
    <Shown query={page}>
      {(listed) => (
        <>
          <div aria-live="polite" className="sticky top-16 z-10 flex justify-center">
            {newCount > 0 && (
              <Button look="primary" small className="mb-2 rounded-full shadow" onClick={showNew}>
                ↑ {formatCount(newCount, isCapped)} new {newCount === 1 ? 'webhook' : 'webhooks'}
              </Button>
            )}
          </div>
          {shown.length === 0 ? (
            <NoWebhooks isFiltered={isFiltered} hasMore={listed.nextCursor !== null} projectId={projectId} />
          ) : (
            <Table webhooks={shown} isStale={page.isPlaceholderData} />
          )}
          <Pager page={listed} cursor={cursor} goTo={goTo} />
        </>
      )}
    </Shown>
  );
}

function Table({ webhooks, isStale }: { webhooks: readonly ListedWebhook[]; isStale: boolean }) {
  const rows = useRowKeys<HTMLTableSectionElement>();
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <table className={`w-full border-collapse ${isStale ? 'opacity-60' : ''}`}>
        <thead className="sr-only sm:not-sr-only sm:table-header-group">
          <tr className="border-b border-line text-left text-xs text-muted">
            <th className="hidden px-4 py-2 font-medium sm:table-cell">Received</th>
            <th className="px-4 py-2 font-medium">Event</th>
            <th className="px-4 py-2 font-medium">Outcome</th>
          </tr>
        </thead>
        <tbody ref={rows}>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

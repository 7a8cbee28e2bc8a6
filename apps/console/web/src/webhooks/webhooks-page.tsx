import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHead } from '../components/page.tsx';
import { FilterBar } from './filter-bar.tsx';
import { queryOf, type Filters } from './filters.ts';
import { WebhookCount } from './webhook-count.tsx';
import { WebhookList } from './webhook-list.tsx';

export function WebhooksPage() {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/webhooks' });
  const { cursor, ...filters } = useSearch({ from: '/signed-in/projects/$projectId/webhooks' });
  const key = JSON.stringify(filters);
  return (
    <>
      <Webhooks key={key} {...{ projectId, filters, cursor }} />
    </>
  );
}

function Webhooks({
  projectId,
  filters,
  cursor,
}: {
  projectId: string;
  filters: Filters;
  cursor: string | undefined;
}) {
  const [openedAt] = useState(() => Math.floor(Date.now() / 60_000) * 60_000);
  const query = queryOf(filters, openedAt);
  return (
    <>
      <PageHead title="Webhooks" sub={<WebhookCount projectId={projectId} query={query} />} />
      <FilterBar projectId={projectId} filters={filters} />
      <WebhookList
        projectId={projectId}
        query={query}
        cursor={cursor}
        isFiltered={Object.keys(filters).length > 0}
      />
    </>
  );
}

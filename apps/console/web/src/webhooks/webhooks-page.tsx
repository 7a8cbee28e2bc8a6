import { useParams, useSearch } from '@tanstack/react-router';
import { PageHead } from '../components/page.tsx';
import { useOpenedAt } from '../routing/opened-at.ts';
import { FilterBar } from './filter-bar.tsx';
import { queryOf, type Filters } from './filters.ts';
import { WebhookCount } from './webhook-count.tsx';
import { WebhookList } from './webhook-list.tsx';

const from = '/signed-in/projects/$projectId/webhooks' as const;

export function WebhooksPage() {
  const { projectId } = useParams({ from });
  const { cursor, openedAt, ...filters } = useSearch({ from });
  // Another filter is another list: it is opened anew.
  return <Webhooks key={JSON.stringify(filters)} {...{ projectId, filters, cursor, openedAt }} />;
}

type Props = {
  projectId: string;
  filters: Filters;
  cursor: string | undefined;
  openedAt: string | undefined;
};

function Webhooks({ projectId, filters, cursor, openedAt: inUrl }: Props) {
  const openedAt = useOpenedAt(inUrl);
  const query = queryOf(filters, openedAt);
  return (
    <>
      <PageHead title="Webhooks" sub={<WebhookCount projectId={projectId} query={query} />} />
      <FilterBar projectId={projectId} filters={filters} />
      <WebhookList {...{ projectId, query, cursor, openedAt }} isFiltered={Object.keys(filters).length > 0} />
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useSearch } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { RowList } from '../components/row-list.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { formatCount } from '../display/number-format.ts';
import { Time } from '../display/zone.tsx';
import { FoundRow } from './found-row.tsx';

type Result = AnswerOf<'get /api/v1/search'>;

export function SearchPage() {
  const { q = '' } = useSearch({ from: '/signed-in/search' });
  const isLongEnough = q.trim().length >= 3;
  const found = useQuery({
    ...read('get /api/v1/search', { query: { q } }),
    ...keepRows,
    enabled: isLongEnough,
  });
  return (
    <main className="pt-5">
      <PageHead title={isLongEnough ? `Search for “${q}”` : 'Search'} />
      {isLongEnough ? (
        <Shown query={found}>
          {(result) => <Results q={q} result={result} isCurrent={!found.isPlaceholderData} />}
        </Shown>
      ) : (
        <Empty title="Type at least three characters">
          An id of the relay, of the provider or of a delivery, a correlation id, or any text in a payload,
          such as an order number.
        </Empty>
      )}
    </main>
  );
}

function Results({ q, result, isCurrent }: { q: string; result: Result; isCurrent: boolean }) {
  const { items, scanned } = result;
  const [only] = items;
  if (isCurrent && only && items.length === 1 && only.id === q.trim().toLowerCase()) {
    return <ToThing item={only} />;
  }
  return (
    <div className={isCurrent ? '' : 'opacity-60'}>
      {items.length === 0 ? (
        <Empty title="Nothing was found">
          <p>
            Ids are found however old they are; text in payloads only in the webhooks below. For older ones
            choose a project and a period, and filter by “In the payload”.
          </p>
          <Link to="/" className="text-accent underline">
            Choose a project
          </Link>
        </Empty>
      ) : (
        <RowList>
          {items.map((item) => (
            <FoundRow key={`${item.kind} ${item.id}`} item={item} />
          ))}
        </RowList>
      )}
      <Scanned scanned={scanned} />
    </div>
  );
}

function Scanned({ scanned: { from, to, rows, complete } }: Pick<Result, 'scanned'>) {
  if (complete) return <p className="mt-3 text-muted">All webhooks were searched.</p>;
  return (
    <p className="mt-3 text-muted">
      Payloads were searched in the newest {formatCount(rows)} webhooks
      {from !== null && to !== null && (
        <>
          , from <Time at={from} form="dayAndMinute" /> to <Time at={to} form="dayAndMinute" />
        </>
      )}
      .
    </p>
  );
}

/** An id that is exactly one thing leads there at once. */
function ToThing({ item: { kind, id, projectId, webhookLogId } }: { item: Result['items'][number] }) {
  const webhookId = webhookLogId ?? (kind === 'webhook' ? id : null);
  if (webhookId !== null) {
    return (
      <Navigate to="/projects/$projectId/webhooks/$webhookId" params={{ projectId, webhookId }} replace />
    );
  }
  return kind === 'endpoint' ? (
    <Navigate
      to="/projects/$projectId/endpoints/$endpointId"
      params={{ projectId, endpointId: id }}
      replace
    />
  ) : (
    <Navigate to="/projects/$projectId" params={{ projectId }} replace />
  );
}

import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { RelativeTime, Time } from '../display/zone.tsx';

const operation = 'get /api/v1/admin-log';
type Entry = AnswerOf<typeof operation>['items'][number];
const from = '/signed-in/admin-log' as const;

export function AdminLogPage() {
  const { projectId, cursor } = useSearch({ from });
  const navigate = useNavigate({ from: '/admin-log' });
  const query = {
    ...(projectId !== undefined && { projectId }),
    ...(cursor !== undefined && { cursor }),
  };
  const log = useQuery({ ...read(operation, { query }), ...keepRows });
  const goTo = (next: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, cursor: next }) });
  return (
    <main className="pt-5">
      <PageHead
        title="Admin log"
        sub={`Every change by the console, the API, the command line and the relay${projectId === undefined ? '' : ', of one project'}.`}
      />
      <Shown query={log}>
        {({ items, ...page }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No change yet" />
            ) : (
              <ul className="m-0 list-none overflow-hidden rounded-lg border border-line bg-surface p-0">
                {items.map((entry) => (
                  <EntryRow key={entry.id} entry={entry} />
                ))}
              </ul>
            )}
            <Pager page={page} cursor={cursor} goTo={goTo} />
          </>
        )}
      </Shown>
    </main>
  );
}

function EntryRow({ entry: { actor, action, target, details, createdAt } }: { entry: Entry }) {
  return (
    <li className="border-b border-line px-4 py-2.5 last:border-0">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="min-w-0 break-words">
          <span className="font-medium">{action}</span> <span className="text-muted">by {actor}</span>
        </span>
        <span className="text-xs text-muted">
          <Time at={createdAt} /> (<RelativeTime at={createdAt} />)
        </span>
      </div>
      {target !== null && <p className="m-0 font-mono text-xs break-all text-muted">{target}</p>}
      {Object.keys(details).length > 0 && (
        <details>
          <summary className="w-fit text-sm text-accent">What changed</summary>
          <pre
            tabIndex={0}
            className="mt-1 mb-0 max-h-72 overflow-auto rounded-md bg-raised p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
          >
            {JSON.stringify(details, null, 2)}
          </pre>
        </details>
      )}
    </li>
  );
}

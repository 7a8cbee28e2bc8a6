import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../api/read.ts';
import { formatCount } from '../display/number-format.ts';

type Query = { state?: 'waiting' | 'held' | 'dead_lettered'; status?: 'rejected'; last?: '24h' };

const dayMs = 86_400_000;
const figures: readonly { label: string; search: Query; isBad: boolean }[] = [
  { label: 'waiting', search: { state: 'waiting' }, isBad: false },
  { label: 'held', search: { state: 'held' }, isBad: false },
  { label: 'with dead letters', search: { state: 'dead_lettered' }, isBad: true },
  { label: 'rejected in 24 hours', search: { status: 'rejected', last: '24h' }, isBad: true },
];

/** Figures of now that may need attention. Each one leads to the rows that it counts. */
export function Figures({ projectId }: { projectId: string }) {
  return (
    <ul aria-label="Webhooks now" className="mt-0 mb-4 grid list-none grid-cols-2 gap-2 p-0 lg:grid-cols-4">
      {figures.map((figure) => (
        <Figure key={figure.label} projectId={projectId} {...figure} />
      ))}
    </ul>
  );
}

function Figure({ projectId, label, search, isBad }: { projectId: string } & (typeof figures)[number]) {
  const { last, ...query } = search;
  const { data, error } = useQuery({
    // The minute keeps the key of the cache the same for a while.
    ...read('get /api/v1/projects/{projectId}/webhooks/count', {
      params: { projectId },
      query: { ...query, ...(last !== undefined && { since: sinceYesterday() }) },
    }),
    staleTime: 15_000,
    refetchInterval: 30_000,
  });
  const isAlarming = isBad && data !== undefined && data.count > 0;
  return (
    <li>
      <Link
        to="/projects/$projectId/webhooks"
        params={{ projectId }}
        search={search}
        className="block rounded-lg border border-line bg-surface px-4 py-3 text-ink no-underline hover:border-line-strong"
      >
        <span className={`block text-2xl font-semibold tabular-nums ${isAlarming ? 'text-bad' : ''}`}>
          {data ? formatCount(data.count, data.capped) : <span title={error?.message}>–</span>}
        </span>
        <span className="block text-muted">{label}</span>
        {!data && error && <span className="block text-xs text-muted">{error.message}</span>}
      </Link>
    </li>
  );
}

function sinceYesterday(): string {
  return new Date(Math.floor((Date.now() - dayMs) / 3_600_000) * 3_600_000).toISOString();
}

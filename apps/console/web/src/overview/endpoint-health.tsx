import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { QueryOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { Card } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { formatCount, formatShare, plural } from '../display/number-format.ts';
import { formatDuration } from '../display/time-format.ts';
import { EndpointState } from '../endpoints/endpoint-state.tsx';

const operation = 'get /api/v1/projects/{projectId}/statistics';
type Props = { projectId: string; query: QueryOf<typeof operation> };

/** The attempts of each endpoint in the period. */
export function EndpointHealth({ projectId, query }: Props) {
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  const grouped = useQuery({
    ...read(operation, { params: { projectId }, query: { ...query, groupBy: 'endpoint' } }),
    ...keepRows,
  });
  const series = new Map(grouped.data?.series.map((each) => [each.endpointId, each.points]));
  return (
    <div className="mt-4">
      <Card title="Endpoints">
        <Shown query={endpoints}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="m-0 text-muted">
                There is none yet.{' '}
                <Link
                  to="/projects/$projectId/endpoints"
                  params={{ projectId }}
                  className="text-accent underline"
                >
                  Add one
                </Link>
              </p>
            ) : (
              <ul className="m-0 grid list-none gap-3 p-0">
                {items.map((endpoint) => {
                  const points = series.get(endpoint.id) ?? [];
                  const sum = (name: 'delivered' | 'failed' | 'deadLettered') =>
                    points.reduce((total, point) => total + point[name], 0);
                  const latest = points.findLast(({ attemptMs }) => attemptMs !== null)?.attemptMs;
                  const failed = sum('failed') + sum('deadLettered');
                  const attempts = sum('delivered') + failed;
                  return (
                    <li
                      key={endpoint.id}
                      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1"
                    >
                      <span className="flex min-w-0 flex-wrap items-center gap-2">
                        <Link
                          to="/projects/$projectId/endpoints/$endpointId"
                          params={{ projectId, endpointId: endpoint.id }}
                          className="break-all text-ink underline decoration-line-strong underline-offset-2"
                        >
                          {endpoint.url}
                        </Link>
                        <EndpointState endpoint={endpoint} />
                      </span>
                      <span className="text-muted tabular-nums">
                        {grouped.data === undefined
                          ? '–'
                          : attempts === 0
                            ? 'no attempts'
                            : `${formatShare(attempts - failed, attempts)} of ${plural(attempts, 'attempt')} delivered`}
                        {sum('deadLettered') > 0 && `, ${formatCount(sum('deadLettered'))} died`}
                        {latest && `, p95 ${formatDuration(latest.p95)}`}
                      </span>
                    </li>
                  );
                })}
              </ul>
            )
          }
        </Shown>
      </Card>
    </div>
  );
}

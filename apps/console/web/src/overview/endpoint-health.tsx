import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../api/entities.ts';
import { NoFigure } from '../components/no-figure.tsx';
import { Card } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { formatShare, plural } from '../display/number-format.ts';
import { formatDuration } from '../display/time-format.ts';
import { EndpointState } from '../endpoints/endpoint-state.tsx';
import type { Point } from './charts/steps.tsx';
import type { PeriodName } from './period.ts';
import { useEndpointStatistics, type StatisticsQuery } from './use-endpoint-statistics.ts';

type Props = { projectId: string; name: PeriodName; query: StatisticsQuery };

/** The state of each endpoint, and its attempts in the period. */
export function EndpointHealth({ projectId, name, query }: Props) {
  const { endpoints, grouped } = useEndpointStatistics(projectId, query);
  const series = new Map(grouped.data?.series.map((each) => [each.endpointId, each.points]));
  return (
    <Card title="Endpoints">
      <Shown query={endpoints}>
        {({ items }) =>
          items.length === 0 ? (
            <NoEndpoint projectId={projectId} />
          ) : (
            <ul className="m-0 grid list-none gap-3 p-0">
              {items.map((endpoint) => (
                <li key={endpoint.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                  <EndpointName endpoint={endpoint} />
                  {grouped.data ? (
                    <Attempts endpoint={endpoint} name={name} points={series.get(endpoint.id) ?? []} />
                  ) : (
                    <NoFigure reason={grouped.error?.message ?? 'The attempts are being counted'} />
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}

function NoEndpoint({ projectId }: { projectId: string }) {
  return (
    <p className="m-0 text-muted">
      There is none yet.{' '}
      <Link to="/projects/$projectId/endpoints" params={{ projectId }} className="text-accent underline">
        Add one
      </Link>
    </p>
  );
}

function EndpointName({ endpoint }: { endpoint: Endpoint }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-2">
      <Link
        to="/projects/$projectId/endpoints/$endpointId"
        params={{ projectId: endpoint.projectId, endpointId: endpoint.id }}
        className="break-all text-ink underline decoration-line-strong underline-offset-2"
      >
        {endpoint.url}
      </Link>
      <EndpointState endpoint={endpoint} />
    </span>
  );
}

type AttemptsProps = { endpoint: Endpoint; name: PeriodName; points: readonly Point[] };

/** Each figure leads to its rows. */
function Attempts({ endpoint: { id, projectId }, name, points }: AttemptsProps) {
  const sum = (field: 'delivered' | 'failed' | 'deadLettered') =>
    points.reduce((total, point) => total + point[field], 0);
  const dead = sum('deadLettered');
  const delivered = sum('delivered');
  const attempts = delivered + sum('failed') + dead;
  const latest = points.findLast(({ attemptMs }) => attemptMs !== null)?.attemptMs;
  const ofProject = { params: { projectId }, className: 'text-accent underline' };
  if (attempts === 0) return <span className="text-muted">no attempts</span>;
  return (
    <span className="text-muted tabular-nums">
      <Link to="/projects/$projectId/webhooks" {...ofProject} search={{ endpointId: id, last: name }}>
        {formatShare(delivered, attempts)} of {plural(attempts, 'attempt')} delivered
      </Link>
      {dead > 0 && (
        <>
          ,{' '}
          <Link to="/projects/$projectId/dead-letters" {...ofProject} search={{ endpointId: id, last: name }}>
            {plural(dead, 'dead letter')}
          </Link>
        </>
      )}
      {latest && `, p95 of its answers ${formatDuration(latest.p95)}`}
    </span>
  );
}

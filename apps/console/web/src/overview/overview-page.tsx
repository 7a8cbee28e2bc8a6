import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { keepRows, read } from '../api/read.ts';
import { Card, PageHead } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { RelativeTime, useZone } from '../display/zone.tsx';
import { zoneNameOf } from '../display/time-format.ts';
import { DeliveredChart } from './charts/delivered-chart.tsx';
import { LatencyChart } from './charts/latency-chart.tsx';
import { ReceivedChart } from './charts/received-chart.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { Figures } from './figures.tsx';
import { PeriodSwitch } from './period-switch.tsx';
import { periodOf, periods, type PeriodName } from './period.ts';

const from = '/signed-in/projects/$projectId/' as const;
const refreshMs = 60_000;

export function OverviewPage() {
  const { projectId } = useParams({ from });
  const name = periodOf(useSearch({ from }).last);
  const navigate = useNavigate({ from: '/projects/$projectId' });
  return (
    <>
      <PageHead
        title="Overview"
        actions={<PeriodSwitch name={name} choose={(last) => void navigate({ search: { last } })} />}
      />
      <Figures projectId={projectId} />
      <Statistics key={name} projectId={projectId} name={name} />
    </>
  );
}

type StatisticsProps = { projectId: string; name: PeriodName };

function Statistics({ projectId, name }: StatisticsProps) {
  const { ms, step, stepMs } = periods[name];
  const [openedAt] = useState(Date.now);
  const timeZone = zoneNameOf(useZone().zone);
  const query = { since: new Date(openedAt - ms + stepMs).toISOString(), step, timeZone };
  const statistics = useQuery({
    ...read('get /api/v1/projects/{projectId}/statistics', { params: { projectId }, query }),
    ...keepRows,
    refetchInterval: refreshMs,
  });
  return (
    <Shown query={statistics}>
      {({ since, asOf, countedFrom, series }) => {
        const of = { projectId, name, points: series[0]?.points ?? [] };
        return (
          <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
            <Card title="Received">
              <ReceivedChart {...of} />
            </Card>
            <Card title="Delivered by endpoint">
              <DeliveredChart {...of} query={query} />
            </Card>
            <Card title="From receipt to delivery">
              <LatencyChart {...of} />
            </Card>
            <EndpointHealth projectId={projectId} name={name} query={query} />
            <CountedAt {...of} asOf={asOf} isWhole={countedFrom === null || countedFrom <= since} />
          </div>
        );
      }}
    </Shown>
  );
}

type CountedProps = StatisticsProps & {
  asOf: string;
  /** Whether every step of the period is counted. */ isWhole: boolean;
};

function CountedAt({ projectId, name, asOf, isWhole }: CountedProps) {
  return (
    <p className="m-0 text-xs text-muted lg:col-span-2">
      Counted <RelativeTime at={asOf} />.{!isWhole && ' Earlier steps are not counted yet and are left out.'}{' '}
      A bar leads to the webhooks that were received in its step.{' '}
      <Link
        to="/projects/$projectId/webhooks"
        params={{ projectId }}
        search={{ last: name }}
        className="text-accent underline"
      >
        Show the webhooks of this period
      </Link>
    </p>
  );
}

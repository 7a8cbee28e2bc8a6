import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { BarChart } from '../components/charts/bar-chart.tsx';
import { LineChart } from '../components/charts/line-chart.tsx';
import { webhookStatuses } from '../display/states.ts';
import { useTimeFormat } from '../display/zone.tsx';
import { periods, type PeriodName } from './period.ts';

type Point = AnswerOf<'get /api/v1/projects/{projectId}/statistics'>['series'][number]['points'][number];
type Status = keyof typeof webhookStatuses;

const colours: Record<Status, string> = {
  queued: 'fill-accent',
  duplicate: 'fill-line-strong',
  conflict: 'fill-warn',
  rate_limited: 'fill-info',
  rejected: 'fill-bad',
  failed_to_queue: 'fill-ink',
};

function useSteps(points: readonly Point[], name: PeriodName): string[] {
  const format = useTimeFormat();
  return points.map(({ at }) => format(at, name === '30d' ? 'day' : 'dayAndMinute'));
}

/** Requests by outcome; the bar of a step leads to its webhooks. */
export function ReceivedChart({
  projectId,
  points,
  name,
}: {
  projectId: string;
  points: readonly Point[];
  name: PeriodName;
}) {
  const steps = useSteps(points, name);
  const series = (Object.keys(colours) as Status[]).map((status) => ({
    name: webhookStatuses[status].label,
    colour: colours[status],
    values: points.map(({ received }) => received?.[status] ?? 0),
  }));
  return (
    <BarChart
      title="Received"
      steps={steps}
      series={series}
      renderBar={(step, bar) => {
        const since = points[step]?.at ?? '';
        const until =
          points[step + 1]?.at ?? new Date(Date.parse(since) + periods[name].stepMs).toISOString();
        return (
          // The link below the charts leads keyboards there; a stop at each bar would be in the way.
          <Link
            to="/projects/$projectId/webhooks"
            params={{ projectId }}
            search={{ since, until }}
            preload={false}
            tabIndex={-1}
          >
            {bar}
          </Link>
        );
      }}
    />
  );
}

export function LatencyChart({ points, name }: { points: readonly Point[]; name: PeriodName }) {
  const steps = useSteps(points, name);
  return (
    <LineChart
      title="From receipt to delivery"
      steps={steps}
      lines={[
        {
          name: 'p50',
          stroke: 'stroke-accent',
          values: points.map(({ endToEndMs }) => endToEndMs?.p50 ?? null),
        },
        {
          name: 'p95',
          stroke: 'stroke-warn',
          values: points.map(({ endToEndMs }) => endToEndMs?.p95 ?? null),
        },
      ]}
    />
  );
}

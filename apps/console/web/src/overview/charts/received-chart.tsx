import { BarChart } from '../../components/charts/bar-chart.tsx';
import { webhookStatuses } from '../../display/states.ts';
import type { PeriodName } from '../period.ts';
import { linksToWebhooks, useStepLabels, type Point } from './steps.tsx';

type Status = keyof typeof webhookStatuses;
type Props = { projectId: string; points: readonly Point[]; name: PeriodName };

const colours: Record<Status, string> = {
  queued: 'fill-accent',
  duplicate: 'fill-line-strong',
  conflict: 'fill-warn',
  rate_limited: 'fill-info',
  rejected: 'fill-bad',
  failed_to_queue: 'fill-ink',
};
const statuses = Object.keys(colours) as Status[];

/** Requests by how they were answered. */
export function ReceivedChart({ projectId, points, name }: Props) {
  const steps = useStepLabels(points, name);
  const series = statuses.map((status) => ({
    name: webhookStatuses[status].label,
    colour: colours[status],
    values: points.map(({ received }) => received?.[status] ?? 0),
  }));
  const filterOf = (at: number | null) => {
    const status = at === null ? undefined : statuses[at];
    return status === undefined ? {} : { status };
  };
  return (
    <BarChart
      title="Received"
      steps={steps}
      series={series}
      renderLink={linksToWebhooks({ projectId, points, name, filterOf })}
    />
  );
}

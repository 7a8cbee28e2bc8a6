import { LineChart } from '../../components/charts/line-chart.tsx';
import type { PeriodName } from '../period.ts';
import { linksToWebhooks, useStepLabels, type Point } from './steps.tsx';

type Props = { projectId: string; points: readonly Point[]; name: PeriodName };

const lines = [
  { name: 'p50', stroke: 'stroke-accent', fill: 'fill-accent' },
  { name: 'p95', stroke: 'stroke-warn', fill: 'fill-warn' },
] as const;

/** How long deliveries took from the receipt of their webhook. */
export function LatencyChart({ projectId, points, name }: Props) {
  const steps = useStepLabels(points, name);
  const filterOf = () => ({ state: 'delivered' });
  return (
    <LineChart
      title="From receipt to delivery"
      steps={steps}
      lines={lines.map((line) => ({
        ...line,
        values: points.map(({ endToEndMs }) => endToEndMs?.[line.name] ?? null),
      }))}
      renderLink={linksToWebhooks({ projectId, points, name, filterOf })}
    />
  );
}

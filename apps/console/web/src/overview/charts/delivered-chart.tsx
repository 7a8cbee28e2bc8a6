import { BarChart } from '../../components/charts/bar-chart.tsx';
import { Shown } from '../../components/states.tsx';
import type { PeriodName } from '../period.ts';
import { useEndpointStatistics, type StatisticsQuery } from '../use-endpoint-statistics.ts';
import { deliveredSeries } from './delivered-series.ts';
import { linksToWebhooks, useStepLabels, type Point } from './steps.tsx';

type Props = { projectId: string; points: readonly Point[]; name: PeriodName; query: StatisticsQuery };

/** Deliveries by endpoint over time. */
export function DeliveredChart({ projectId, points, name, query }: Props) {
  const steps = useStepLabels(points, name);
  const { endpoints, grouped } = useEndpointStatistics(projectId, query);
  const urls = new Map(endpoints.data?.items.map(({ id, url }) => [id, url.replace(/^https?:\/\//, '')]));
  return (
    <Shown query={grouped}>
      {({ series: all, seriesOmitted }) => {
        const series = deliveredSeries(all, (id) => urls.get(id) ?? `the endpoint ${id}`);
        const filterOf = (at: number | null) => {
          const endpointId = at === null ? null : (series[at]?.endpointId ?? null);
          return { state: 'delivered', ...(endpointId !== null && { endpointId }) };
        };
        if (series.length === 0)
          return <p className="m-0 text-muted">Nothing was delivered in this period.</p>;
        return (
          <>
            <BarChart
              title="Delivered"
              steps={steps}
              series={series}
              renderLink={linksToWebhooks({ projectId, points, name, filterOf })}
            />
            {seriesOmitted > 0 && (
              <p className="mb-0 text-xs text-muted">
                {seriesOmitted} endpoints with fewer attempts are left out.
              </p>
            )}
          </>
        );
      }}
    </Shown>
  );
}

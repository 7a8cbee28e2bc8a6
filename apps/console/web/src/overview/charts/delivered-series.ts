import type { Series } from '../../components/charts/bar-chart.tsx';

type Point = { delivered: number };
type EndpointSeries = { endpointId: string | null; points: readonly Point[] };

/** One more than this is the series of all others. */
const endpointColours = ['fill-series-1', 'fill-series-2', 'fill-series-3', 'fill-series-4', 'fill-series-5'];
const othersColour = 'fill-line-strong';

/** The deliveries of each endpoint by step: the busiest endpoints have a series each, and the others share the last one. */
export function deliveredSeries(
  all: readonly EndpointSeries[],
  nameOf: (endpointId: string) => string,
): (Series & { endpointId: string | null })[] {
  const counted = all
    .map(({ endpointId, points }) => ({ endpointId, values: points.map(({ delivered }) => delivered) }))
    .map((each) => ({ ...each, total: each.values.reduce((sum, value) => sum + value, 0) }))
    .filter(({ total }) => total > 0)
    .sort((a, b) => b.total - a.total);
  const named = counted.slice(0, endpointColours.length);
  const others = counted.slice(endpointColours.length);
  return [
    ...named.map(({ endpointId, values }, at) => ({
      endpointId,
      values,
      name: endpointId === null ? 'an unknown endpoint' : nameOf(endpointId),
      colour: endpointColours[at] as string,
    })),
    ...(others.length === 0 ? [] : [sharedSeries(others.map(({ values }) => values))]),
  ];
}

function sharedSeries(all: readonly (readonly number[])[]) {
  const steps = all[0] ?? [];
  return {
    endpointId: null,
    values: steps.map((_, step) => all.reduce((sum, values) => sum + (values[step] ?? 0), 0)),
    name: `${all.length} others`,
    colour: othersColour,
  };
}

import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../../api/operations.ts';
import type { RenderLink, Rows } from '../../components/charts/bar-chart.tsx';
import { useTimeFormat } from '../../display/zone.tsx';
import type { Filters } from '../../webhooks/filters.ts';
import { periods, type PeriodName } from '../period.ts';

export type Point =
  AnswerOf<'get /api/v1/projects/{projectId}/statistics'>['series'][number]['points'][number];

/** The start of each step, in the reader's zone. */
export function useStepLabels(points: readonly Point[], name: PeriodName): string[] {
  const format = useTimeFormat();
  return points.map(({ at }) => format(at, name === '30d' ? 'day' : 'dayAndMinute'));
}

type LinkOptions = {
  projectId: string;
  points: readonly Point[];
  name: PeriodName;
  /** The filter of a series, beside the time of the step. */
  filterOf: (series: number | null) => Filters;
};

/** Links a figure to the webhooks that were received in its step. */
export function linksToWebhooks({ projectId, points, name, filterOf }: LinkOptions): RenderLink {
  return function linkToWebhooks({ step, series }: Rows, figure, place) {
    const since = points[step]?.at ?? '';
    const until = points[step + 1]?.at ?? new Date(Date.parse(since) + periods[name].stepMs).toISOString();
    return (
      <Link
        to="/projects/$projectId/webhooks"
        params={{ projectId }}
        search={{ ...filterOf(series), since, until }}
        preload={false}
        {...(place === 'bar' ? { tabIndex: -1 } : { className: 'text-accent underline' })}
      >
        {figure}
      </Link>
    );
  };
}

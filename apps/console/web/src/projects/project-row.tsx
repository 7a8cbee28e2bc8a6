import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { Sparkline } from '../components/charts/sparkline.tsx';
import { Attention } from './attention.tsx';
import { NoFigure } from '../components/no-figure.tsx';
import { formatCount, formatShare } from '../display/number-format.ts';
import { RelativeTime } from '../display/zone.tsx';

type Project = AnswerOf<'get /api/v1/projects'>['items'][number];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export function ProjectRow({ project }: { project: Project }) {
  const { id, name, provider, lastReceivedAt, statistics } = project;
  const received = sum(statistics?.received ?? []);
  return (
    <li className="relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-0 focus-within:bg-raised hover:bg-raised sm:grid-cols-[minmax(0,1fr)_9rem_11rem_auto]">
      <div className="min-w-0">
        <span className="flex flex-wrap items-center gap-2">
          <Link
            to="/projects/$projectId"
            params={{ projectId: id }}
            data-row
            className="min-w-0 font-medium break-words text-ink no-underline after:absolute after:inset-0"
          >
            {name}
          </Link>
          <Attention project={project} />
        </span>
        <span className="block text-muted">
          {provider},{' '}
          {lastReceivedAt === null ? (
            'nothing received yet'
          ) : (
            <>
              last received <RelativeTime at={lastReceivedAt} />
            </>
          )}
        </span>
      </div>
      <Sparkline
        values={statistics?.received ?? []}
        label={`${formatCount(received)} received in 24 hours`}
      />
      <div className="text-muted tabular-nums">
        {statistics ? (
          <>
            <span className="block text-ink">{formatCount(received)} in 24 h</span>
            <DeliveredShare statistics={statistics} />
          </>
        ) : (
          <NoFigure reason="The last 24 hours were not counted" />
        )}
      </div>
    </li>
  );
}

function DeliveredShare({ statistics }: { statistics: NonNullable<Project['statistics']> }) {
  const delivered = sum(statistics.delivered);
  const attempts = delivered + sum(statistics.failed);
  return attempts === 0 ? 'no attempts' : `${formatShare(delivered, attempts)} delivered`;
}

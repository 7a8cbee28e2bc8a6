import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../api/operations.ts';
import { read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { Card } from '../components/page.tsx';
import { Tag } from '../components/tag.tsx';
import { formatCount } from '../display/number-format.ts';
import { RelativeTime } from '../display/zone.tsx';
import { useMe } from '../layout/me.ts';

const listOperation = 'get /api/v1/projects/{projectId}/replay-jobs';
type Job = AnswerOf<typeof listOperation>['items'][number];

const runningMs = 2_000;
const states = {
  running: { label: 'running', tone: 'info' },
  finished: { label: 'finished', tone: 'good' },
  cancelled: { label: 'cancelled', tone: 'plain' },
} as const;

/** The replays of many deliveries, running and ended. Nothing where there was none. */
export function ReplayJobs({ projectId }: { projectId: string }) {
  const { data } = useQuery({
    ...read(listOperation, { params: { projectId }, query: { limit: '20' } }),
    refetchInterval: ({ state }) =>
      state.data?.items.some((job) => job.state === 'running') === true ? runningMs : false,
  });
  const jobs = data?.items ?? [];
  if (jobs.length === 0) return null;
  const running = jobs.filter(({ state }) => state === 'running');
  const ended = jobs.filter(({ state }) => state !== 'running');
  return (
    <div className="mb-4">
      <Card title="Replays of many">
        <div className="grid gap-3">
          {running.map((job) => (
            <JobRow key={job.id} job={job} />
          ))}
          {ended.length > 0 && (
            <details>
              <summary className="w-fit text-sm text-muted hover:text-ink">
                History ({ended.length}
                {data?.nextCursor === null ? '' : ' newest'})
              </summary>
              <div className="mt-3 grid gap-3">
                {ended.map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </div>
            </details>
          )}
        </div>
      </Card>
    </div>
  );
}

function JobRow({ job }: { job: Job }) {
  const { label, tone } = states[job.state];
  const notReplayed = Object.values(job.notReplayed).reduce<number>((sum, count = 0) => sum + count, 0);
  return (
    <div className="grid gap-1">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="flex flex-wrap items-center gap-2">
          <Tag tone={tone}>{label}</Tag>
          {formatCount(job.replayed)} of {formatCount(job.count, job.countCapped)} sent again
          {notReplayed > 0 && `, ${formatCount(notReplayed)} could not be`}
        </span>
        <span className="text-xs text-muted">
          {job.requestedBy}, <RelativeTime at={job.createdAt} />, {job.ratePerSecond} per second
        </span>
      </div>
      {job.state === 'running' && <Progress job={job} done={job.replayed + notReplayed} />}
    </div>
  );
}

function Progress({ job, done }: { job: Job; done: number }) {
  const { may } = useMe();
  return (
    <div className="flex items-center gap-3">
      <progress
        aria-label="Progress of the replay"
        value={done}
        max={Math.max(job.count, done, 1)}
        className="h-2 w-full grow accent-(--accent)"
      />
      {may('operator') && <CancelJob job={job} />}
    </div>
  );
}

function CancelJob({ job }: { job: Job }) {
  const cancel = useAction('post /api/v1/replay-jobs/{id}/cancel', {
    changes: [listOperation],
    done: ({ replayed }) => `Cancelled after ${formatCount(replayed)}`,
  });
  return (
    <ConfirmButton
      small
      label="Cancel …"
      title="Cancel this replay?"
      confirm="Cancel it"
      busy={cancel.isPending}
      onConfirm={() => cancel.mutate({ params: { id: job.id }, body: {} })}
    >
      <p>
        {formatCount(job.replayed)} were sent again already and stay so. The others are not, and remain dead
        letters.
      </p>
    </ConfirmButton>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { Card } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { formatCount } from '../display/number-format.ts';
import { formatDuration } from '../display/time-format.ts';
import { RelativeTime, Time } from '../display/zone.tsx';
import { labelOfType } from './alert-kinds.ts';

const operation = 'get /api/v1/projects/{projectId}/alerts/messages';
type Message = AnswerOf<typeof operation>['items'][number];

const statuses = {
  waiting: { label: 'waiting', tone: 'info' },
  sent: { label: 'sent', tone: 'good' },
  not_sent: { label: 'not sent', tone: 'bad' },
} as const;

type Props = { projectId: string; cursor: string | undefined };

/** The messages of all rules, with every try to send them. */
export function AlertMessages({ projectId, cursor }: Props) {
  const query = { limit: '20', ...(cursor !== undefined && { cursor }) };
  const messages = useQuery({
    ...read(operation, { params: { projectId }, query }),
    ...keepRows,
    refetchInterval: cursor === undefined ? 5_000 : false,
  });
  const navigate = useNavigate({ from: '/projects/$projectId/alerts' });
  const goTo = (next: string | undefined) => void navigate({ search: { cursor: next } });
  return (
    <Card title="Messages">
      <Shown query={messages}>
        {({ items, ...page }) => (
          <>
            {items.length === 0 && <p className="m-0 text-muted">No message yet.</p>}
            <ul className="m-0 grid list-none gap-4 p-0">
              {items.map((message) => (
                <MessageRow key={message.id} message={message} />
              ))}
            </ul>
            <Pager page={page} cursor={cursor} goTo={goTo} />
          </>
        )}
      </Shown>
    </Card>
  );
}

function MessageRow({ message }: { message: Message }) {
  const { type, state, isReminder, count, reason, createdAt, status, url, attempts } = message;
  return (
    <li className="grid gap-1">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="flex min-w-0 flex-wrap items-center gap-1.5">
          <Tag tone={statuses[status].tone}>{statuses[status].label}</Tag>
          <a href={pathOf(url)} className="font-medium text-ink">
            {labelOfType(type)}
          </a>
          {state === 'recovered' && <Tag tone="good">recovered</Tag>}
          {isReminder && <Tag>reminder</Tag>}
          {count > 1 && <span className="text-muted">{formatCount(count)} times</span>}
        </span>
        <span className="text-xs text-muted">
          <Time at={createdAt} /> (<RelativeTime at={createdAt} />)
        </span>
      </div>
      <p className="m-0 break-words text-muted">{reason}</p>
      {attempts.length > 0 && <Tries attempts={attempts} />}
    </li>
  );
}

/** The console may be reached by another name than the one in its messages. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, window.location.origin);
  return pathname + search;
}

function Tries({ attempts }: Pick<Message, 'attempts'>) {
  return (
    <details>
      <summary className="w-fit text-sm text-accent">Tries to send it ({attempts.length})</summary>
      <ul className="mt-1 mb-0 grid list-none gap-1 p-0 text-sm">
        {attempts.map(({ attemptNum, status, answer, latencyMs, attemptedAt }) => (
          <li key={attemptNum} className="break-words">
            <Tag tone={status === 'sent' ? 'good' : 'bad'}>{status}</Tag> {answer}{' '}
            <span className="text-muted">
              in {formatDuration(latencyMs)}, <Time at={attemptedAt} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

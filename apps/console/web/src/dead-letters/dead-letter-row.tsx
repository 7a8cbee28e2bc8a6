import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../api/operations.ts';
import { Tag } from '../components/tag.tsx';
import { plural } from '../display/number-format.ts';
import { RelativeTime, Time } from '../display/zone.tsx';

type DeadLetter = AnswerOf<'get /api/v1/projects/{projectId}/dead-letters'>['items'][number];

export function DeadLetterRow({ deadLetter, projectId }: { deadLetter: DeadLetter; projectId: string }) {
  const { webhookLogId, webhookId, endpointUrl, lastStatusCode, lastError, attempts, deadAt, reason } =
    deadLetter;
  return (
    <li className="relative border-b border-line px-4 py-3 last:border-0 focus-within:bg-raised hover:bg-raised">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        {webhookLogId === null ? (
          <span className="font-medium">{reason}</span>
        ) : (
          <Link
            to="/projects/$projectId/webhooks/$webhookId"
            params={{ projectId, webhookId: webhookLogId }}
            data-row
            className="min-w-0 font-medium break-all text-ink no-underline after:absolute after:inset-0"
          >
            {endpointUrl ?? webhookId}
          </Link>
        )}
        <span className="text-xs text-muted">
          <Time at={deadAt} /> (<RelativeTime at={deadAt} />)
        </span>
      </div>
      <p className="m-0 mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted">
        <Tag tone="bad">{lastStatusCode ?? 'no answer'}</Tag>
        {deadLetter.replayedAt !== null && <Tag>replayed</Tag>}
        <span className="break-words">{lastError ?? reason}</span>
        <span>after {plural(attempts, 'attempt')}</span>
      </p>
      <p className="m-0 truncate font-mono text-xs text-muted">{webhookId}</p>
    </li>
  );
}

import type { AnswerOf } from '../api/operations.ts';
import { Tag } from '../components/tag.tsx';
import { useNow } from '../display/now.ts';
import { formatDuration } from '../display/time-format.ts';
import { RelativeTime, Time } from '../display/zone.tsx';
import { useMe } from '../layout/me.ts';
import { AlertActions } from './alert-actions.tsx';
import { alertKinds } from './alert-kinds.ts';

export type Alert = AnswerOf<'get /api/v1/projects/{projectId}/alerts'>['items'][number];

/** One rule, with the state of its channel. */
export function AlertRow({ alert }: { alert: Alert }) {
  const { channel, target, on, windowSeconds, lastSentAt } = alert;
  const { may } = useMe();
  return (
    <li className="grid gap-1 border-b border-line pb-4 last:border-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <span className="flex flex-wrap items-center gap-1.5">
            <Tag>{channel}</Tag>
            <span className="min-w-0 font-medium break-all">{target}</span>
            <State alert={alert} />
          </span>
          <span className="mt-1 flex flex-wrap gap-1">
            {on.map((kind) => (
              <Tag key={kind} tone="info" title={alertKinds[kind].meaning}>
                {alertKinds[kind].label}
              </Tag>
            ))}
          </span>
        </div>
        {may('operator') && <AlertActions alert={alert} />}
      </div>
      <p className="m-0 text-muted">
        At most one message in {formatDuration(windowSeconds * 1_000)};{' '}
        {lastSentAt === null ? (
          'none sent yet'
        ) : (
          <>
            last sent <RelativeTime at={lastSentAt} />
          </>
        )}
        .
      </p>
    </li>
  );
}

function State({ alert: { isBroken, lastError, failingSince, snoozedUntil } }: { alert: Alert }) {
  const now = useNow();
  const isSnoozed = snoozedUntil !== null && Date.parse(snoozedUntil) > now;
  return (
    <>
      {isBroken && <Tag tone="bad">broken</Tag>}
      {isSnoozed && (
        <Tag tone="warn">
          snoozed until&nbsp;
          <Time at={snoozedUntil} form="dayAndMinute" />
        </Tag>
      )}
      {failingSince !== null && (
        <span className="w-full text-sm break-words text-bad">
          Since <Time at={failingSince} />: {lastError ?? 'the last try failed'}
        </span>
      )}
    </>
  );
}

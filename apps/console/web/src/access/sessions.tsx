import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { Card } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { plural } from '../display/number-format.ts';
import { RelativeTime } from '../display/zone.tsx';
import { useMe } from '../layout/me.ts';

const listOperation = 'get /api/v1/sessions';
type Session = AnswerOf<typeof listOperation>['items'][number];

/** The browsers that are or were signed in. */
export function Sessions() {
  const sessions = useQuery({ ...read(listOperation, { query: { limit: '100' } }), ...keepRows });
  return (
    <Card title="Sessions" actions={<EndOthers sessions={sessions.data?.items ?? []} />}>
      <Shown query={sessions}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No browser is signed in">
              <code className="font-mono text-xs">npm run hqrelay -- console link</code> makes a sign-in link.
            </Empty>
          ) : (
            <ul className="m-0 grid list-none gap-3 p-0">
              {items.map((session) => (
                <SessionRow key={session.id} session={session} />
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}

function EndOthers({ sessions }: { sessions: readonly Session[] }) {
  const { me } = useMe();
  const endOthers = useAction('delete /api/v1/sessions', {
    changes: [listOperation],
    done: ({ count }) => `${plural(count, 'session')} ended`,
  });
  const others = sessions.filter(({ id, status }) => status === 'active' && id !== me?.id);
  return (
    <ConfirmButton
      small
      label="End all others …"
      title="End every session but your own?"
      confirm="End them"
      busy={endOthers.isPending}
      onConfirm={() => endOthers.mutate({})}
    >
      <p>
        Of the newest {sessions.length} sessions, {plural(others.length, 'other')}{' '}
        {others.length === 1 ? 'ends' : 'end'}, and so do older ones and the sign-in links that are not used
        yet. Their readers need a new link.
      </p>
    </ConfirmButton>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { id, subject, role, projectId, hidePayloads, status, lastUsedAt, createdBy } = session;
  const { me } = useMe();
  const end = useAction('delete /api/v1/sessions/{id}', {
    changes: [listOperation],
    done: () => `The session of ${subject} ended`,
  });
  return (
    <li className="flex flex-wrap items-start justify-between gap-2">
      <div className="min-w-0">
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-medium break-words">{subject}</span>
          <Tag tone={status === 'active' ? 'good' : 'plain'}>{status}</Tag>
          {me?.id === id && <Tag tone="info">yours</Tag>}
        </span>
        <span className="block text-muted">
          {role} of {projectId === null ? 'all projects' : 'one project'}
          {hidePayloads && ', payloads hidden'}; last used <RelativeTime at={lastUsedAt} />; link made by{' '}
          {createdBy}
        </span>
      </div>
      {status === 'active' && me?.id !== id && (
        <ConfirmButton
          small
          label="End …"
          title={`End the session of ${subject}?`}
          confirm="End it"
          busy={end.isPending}
          onConfirm={() => end.mutate({ params: { id } })}
        >
          <p>The browser is signed out at its next request.</p>
        </ConfirmButton>
      )}
    </li>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../api/operations.ts';
import { read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { Card } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { RelativeTime, Time } from '../display/zone.tsx';
import { useMe } from '../layout/me.ts';
import { RotateProjectSecret } from './rotate-project-secret.tsx';

const listOperation = 'get /api/v1/projects/{projectId}/secrets';
type Secret = AnswerOf<typeof listOperation>['items'][number];

/** The secrets that the provider signs with, without their values. */
export function Secrets({ projectId }: { projectId: string }) {
  const { may } = useMe();
  const secrets = useQuery(read(listOperation, { params: { projectId } }));
  return (
    <Card title="Secrets" actions={may('admin') && <RotateProjectSecret projectId={projectId} />}>
      <Shown query={secrets}>
        {({ items }) => (
          <ul className="m-0 grid list-none gap-3 p-0">
            {items.map((secret) => (
              <SecretRow
                key={secret.id}
                secret={secret}
                isLast={items.filter(({ status }) => status === 'active').length === 1}
              />
            ))}
          </ul>
        )}
      </Shown>
    </Card>
  );
}

function SecretRow({ secret, isLast }: { secret: Secret; isLast: boolean }) {
  const { may } = useMe();
  const { status, createdAt } = secret;
  return (
    <li className="flex flex-wrap items-start justify-between gap-2">
      <div>
        <span className="flex items-center gap-2">
          <Tag tone={status === 'active' ? 'good' : 'plain'}>{status}</Tag>
          <span>
            Made <Time at={createdAt} form="dayAndMinute" />
          </span>
        </span>
        <SecretUse secret={secret} />
      </div>
      {status === 'active' && may('admin') && <RevokeSecret secret={secret} isLast={isLast} />}
    </li>
  );
}

function SecretUse({ secret: { status, expiresAt, revokedAt, lastVerifiedAt } }: { secret: Secret }) {
  return (
    <span className="block text-muted">
      {lastVerifiedAt === null ? (
        'It has verified nothing yet.'
      ) : (
        <>
          Last verified a webhook <RelativeTime at={lastVerifiedAt} />.
        </>
      )}
      {status === 'active' && expiresAt !== null && (
        <>
          {' '}
          Its overlap ends <RelativeTime at={expiresAt} />.
        </>
      )}
      {revokedAt !== null && (
        <>
          {' '}
          Revoked <RelativeTime at={revokedAt} />.
        </>
      )}
    </span>
  );
}

function RevokeSecret({ secret: { id, projectId }, isLast }: { secret: Secret; isLast: boolean }) {
  const revoke = useAction('delete /api/v1/projects/{projectId}/secrets/{secretId}', {
    changes: [listOperation],
    done: () => 'Revoked: it verifies nothing from now on',
  });
  return (
    <ConfirmButton
      small
      label="Revoke …"
      title="Revoke this secret?"
      confirm="Revoke it for good"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate({ params: { projectId, secretId: id } })}
    >
      <p>
        {isLast
          ? 'It is the only active one: every webhook is refused until there is a new one. '
          : 'Webhooks that the provider still signs with it are refused, within a second. '}
        This cannot be undone.
      </p>
    </ConfirmButton>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { Card, PageHead } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { RelativeTime, Time } from '../display/zone.tsx';
import { CreateApiKey } from './create-api-key.tsx';
import { Sessions } from './sessions.tsx';

const listOperation = 'get /api/v1/api-keys';
type ApiKey = AnswerOf<typeof listOperation>['items'][number];

export function AccessPage() {
  const keys = useQuery({ ...read(listOperation, { query: { limit: '100' } }), ...keepRows });
  return (
    <main className="grid grid-cols-1 gap-4 pt-5">
      <PageHead title="Access" sub="Programs with a key of the HTTP API, and people who are signed in." />
      <Card title="API keys" actions={<CreateApiKey />}>
        <Shown query={keys}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No key yet">A key lets a program use the HTTP API, with a role and an end.</Empty>
            ) : (
              <ul className="m-0 grid list-none gap-3 p-0">
                {items.map((apiKey) => (
                  <ApiKeyRow key={apiKey.id} apiKey={apiKey} />
                ))}
              </ul>
            )
          }
        </Shown>
      </Card>
      <Sessions />
    </main>
  );
}

function ApiKeyRow({ apiKey }: { apiKey: ApiKey }) {
  const { name, role, projectId, hidePayloads, status, expiresAt, lastUsedAt } = apiKey;
  return (
    <li className="flex flex-wrap items-start justify-between gap-2">
      <div className="min-w-0">
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-medium break-words">{name}</span>
          <Tag tone={status === 'active' ? 'good' : 'plain'}>{status}</Tag>
        </span>
        <span className="block text-muted">
          {role} of {projectId === null ? 'all projects' : 'one project'}
          {hidePayloads && ', payloads hidden'};{' '}
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              last used <RelativeTime at={lastUsedAt} />
            </>
          )}
          ; ends <Time at={expiresAt} form="date" />
        </span>
      </div>
      {status === 'active' && <RevokeApiKey apiKey={apiKey} />}
    </li>
  );
}

function RevokeApiKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const revoke = useAction('delete /api/v1/api-keys/{id}', {
    changes: [listOperation],
    done: () => `${name} is revoked`,
  });
  return (
    <ConfirmButton
      small
      label="Revoke …"
      title={`Revoke ${name}?`}
      confirm="Revoke it for good"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate({ params: { id } })}
    >
      <p>The program that uses it is refused from its next request on. This cannot be undone.</p>
    </ConfirmButton>
  );
}

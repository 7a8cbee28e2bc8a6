import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Project } from '../api/entities.ts';
import type { Reading } from '../api/operations.ts';
import { read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { Card } from '../components/page.tsx';
import { formatCount } from '../display/number-format.ts';
import { useMe } from '../layout/me.ts';

const changes: readonly Reading[] = ['get /api/v1/projects/{projectId}', 'get /api/v1/projects'];
const dayMs = 86_400_000;

/** Whether the project accepts webhooks. */
export function Accepting({ project: { id, enabled } }: { project: Project }) {
  const { may } = useMe();
  const { mutate, isPending } = useAction('patch /api/v1/projects/{projectId}', {
    changes,
    done: (project) => (project.enabled ? 'Webhooks are accepted again' : 'Webhooks are refused now'),
  });
  const setEnabled = (wanted: boolean) => mutate({ params: { projectId: id }, body: { enabled: wanted } });
  return (
    <Card title="Accept webhooks">
      <p className="mt-0 text-muted">
        {enabled
          ? 'Webhooks of this project are accepted.'
          : 'Every webhook of this project is refused (401). Most providers try again for some time.'}
      </p>
      {may('admin') &&
        (enabled ? (
          <ConfirmButton
            label="Refuse them …"
            title="Refuse every webhook of this project?"
            confirm="Refuse them"
            busy={isPending}
            onConfirm={() => setEnabled(false)}
          >
            <ReceivedLately projectId={id} />
            <p>
              You can accept webhooks again here; those that were refused come only if the provider tries
              again.
            </p>
          </ConfirmButton>
        ) : (
          <Button look="primary" busy={isPending} onClick={() => setEnabled(true)}>
            Accept webhooks
          </Button>
        ))}
    </Card>
  );
}

function ReceivedLately({ projectId }: { projectId: string }) {
  const [since] = useState(() => new Date(Date.now() - dayMs).toISOString());
  const { data } = useQuery(
    read('get /api/v1/projects/{projectId}/webhooks/count', { params: { projectId }, query: { since } }),
  );
  return (
    <p>
      {data
        ? `In the last 24 hours it received ${formatCount(data.count, data.capped)}.`
        : 'Counting what it received in the last 24 hours …'}
    </p>
  );
}

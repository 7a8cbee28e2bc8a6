import type { Endpoint } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { useMe } from '../layout/me.ts';
import { endpointReadings } from './endpoint-readings.ts';
import { OwedCount } from './owed-count.tsx';
import { TestEndpoint } from './test-endpoint.tsx';

const path = '/api/v1/projects/{projectId}/endpoints/{endpointId}';
const changes = endpointReadings;

type Props = { endpoint: Endpoint };

const inputOf = ({ projectId, id }: Endpoint) => ({ params: { projectId, endpointId: id }, body: {} });

/** The actions that an endpoint takes in its present state. */
export function EndpointActions({ endpoint }: Props) {
  const { may } = useMe();
  if (!may('operator') || endpoint.archivedAt !== null) return null;
  return (
    <div className="flex flex-wrap gap-1.5">
      <TestEndpoint endpoint={endpoint} />
      {endpoint.enabled ? (
        <>
          <PauseButton endpoint={endpoint} />
          <DisableButton endpoint={endpoint} />
        </>
      ) : (
        <EnableButton endpoint={endpoint} />
      )}
    </div>
  );
}

function PauseButton({ endpoint }: Props) {
  const resume = useAction(`post ${path}/resume`, {
    changes,
    done: () => 'Resumed: held deliveries are sent, the oldest first',
  });
  const pause = useAction(`post ${path}/pause`, {
    changes,
    done: () => 'Paused: its deliveries are held',
    undo: () => resume.mutate(inputOf(endpoint)),
  });
  const { mutate, isPending } = endpoint.paused ? resume : pause;
  return (
    <Button
      small
      look={endpoint.paused ? 'primary' : 'plain'}
      busy={isPending}
      onClick={() => mutate(inputOf(endpoint))}
    >
      {endpoint.paused ? 'Resume' : 'Pause'}
    </Button>
  );
}

function EnableButton({ endpoint }: Props) {
  const { mutate, isPending } = useAction(`post ${path}/enable`, {
    changes,
    done: () => 'Enabled: held deliveries are sent, the oldest first',
  });
  return (
    <Button small look="primary" busy={isPending} onClick={() => mutate(inputOf(endpoint))}>
      Enable
    </Button>
  );
}

function DisableButton({ endpoint }: Props) {
  const { mutate, isPending } = useAction(`post ${path}/disable`, { changes, done: () => 'Disabled' });
  return (
    <ConfirmButton
      small
      label="Disable …"
      title="Disable this endpoint?"
      confirm="Disable it"
      busy={isPending}
      onConfirm={() => mutate(inputOf(endpoint))}
    >
      <p>
        Webhooks that arrive from now on are not owed to it. <OwedCount endpoint={endpoint} />
      </p>
      <p>
        You can enable it again. Those of the meantime it gets only by “Send an endpoint what it missed”. To
        hold the new ones too, pause it instead.
      </p>
    </ConfirmButton>
  );
}

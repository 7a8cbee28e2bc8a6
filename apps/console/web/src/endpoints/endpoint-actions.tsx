import type { Endpoint } from '../api/entities.ts';
import type { Reading } from '../api/operations.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { ConfirmButton } from '../components/confirm.tsx';
import { useMe } from '../layout/me.ts';
import { TestEndpoint } from './test-endpoint.tsx';

export const endpointReadings: readonly Reading[] = [
  'get /api/v1/projects/{projectId}/endpoints',
  'get /api/v1/projects/{projectId}/endpoints/{endpointId}',
  'get /api/v1/webhooks/{id}',
];
const path = '/api/v1/projects/{projectId}/endpoints/{endpointId}';

/** What can be done with an endpoint as it is now. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const { may } = useMe();
  const params = { projectId: endpoint.projectId, endpointId: endpoint.id };
  const options = { changes: endpointReadings };
  const pause = useAction(`post ${path}/pause`, {
    ...options,
    done: () => 'Paused: its deliveries are held',
  });
  const resume = useAction(`post ${path}/resume`, {
    ...options,
    done: () => 'Resumed: held deliveries are sent, the oldest first',
  });
  const enable = useAction(`post ${path}/enable`, {
    ...options,
    done: () => 'Enabled: held deliveries are sent, the oldest first',
  });
  const disable = useAction(`post ${path}/disable`, { ...options, done: () => 'Disabled' });
  if (!may('operator') || endpoint.archivedAt !== null) return null;
  return (
    <div className="flex flex-wrap gap-1.5">
      <TestEndpoint endpoint={endpoint} />
      {!endpoint.enabled && (
        <Button
          small
          look="primary"
          busy={enable.isPending}
          onClick={() => enable.mutate({ params, body: {} })}
        >
          Enable
        </Button>
      )}
      {endpoint.enabled &&
        (endpoint.paused ? (
          <Button
            small
            look="primary"
            busy={resume.isPending}
            onClick={() => resume.mutate({ params, body: {} })}
          >
            Resume
          </Button>
        ) : (
          <Button small busy={pause.isPending} onClick={() => pause.mutate({ params, body: {} })}>
            Pause
          </Button>
        ))}
      {endpoint.enabled && (
        <ConfirmButton
          small
          label="Disable …"
          title="Disable this endpoint?"
          confirm="Disable it"
          busy={disable.isPending}
          onConfirm={() => disable.mutate({ params, body: {} })}
        >
          <p>
            Webhooks that arrive from now on are not owed to it. What it is owed already is held until you
            enable it. To hold the new ones too, pause it instead.
          </p>
        </ConfirmButton>
      )}
    </div>
  );
}

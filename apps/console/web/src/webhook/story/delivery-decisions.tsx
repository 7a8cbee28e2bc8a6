import type { Delivery, WebhookDetails } from '../../api/entities.ts';
import type { Reading } from '../../api/operations.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog/confirm-button.tsx';
import { useMe } from '../../layout/me.ts';
import { ReplayButton } from '../replay-button.tsx';
import { useFocusAfterRemoval } from './use-focus-after-removal.ts';

type Webhook = WebhookDetails['webhook'];

const changes: readonly Reading[] = [
  'get /api/v1/webhooks/{id}',
  'get /api/v1/projects/{projectId}/webhooks',
  'get /api/v1/projects/{projectId}/dead-letters',
];

/** The decisions that a person may take about a delivery that is not delivered. */
export function DeliveryDecisions({ delivery, webhook }: { delivery: Delivery; webhook?: Webhook }) {
  const { deliveryId, state, heldReason, endpointId } = delivery;
  const { may } = useMe();
  const removed = useFocusAfterRemoval();
  const retry = useAction('post /api/v1/deliveries/{deliveryId}/retry-now', {
    changes,
    done: () => 'The next attempt is made at once',
  });
  if (!may('operator')) return null;
  const isHeldBack = heldReason === 'paused' || heldReason === 'disabled' || heldReason === 'order';
  return (
    <div ref={removed} className="mt-2 flex flex-wrap gap-1.5">
      {state !== 'dead_lettered' && !isHeldBack && (
        <Button
          small
          look="primary"
          busy={retry.isPending}
          onClick={() => retry.mutate({ params: { deliveryId }, body: {} })}
        >
          Retry now
        </Button>
      )}
      {webhook && <ReplayButton webhook={webhook} endpointIds={[endpointId]} small />}
      <CancelDelivery deliveryId={deliveryId} />
    </div>
  );
}

function CancelDelivery({ deliveryId }: { deliveryId: string }) {
  const cancel = useAction('post /api/v1/deliveries/{deliveryId}/cancel', {
    changes,
    done: () => 'Cancelled: no further attempt is made',
  });
  return (
    <ConfirmButton
      small
      label="Cancel …"
      title="Cancel this delivery?"
      confirm="Make no further attempt"
      busy={cancel.isPending}
      onConfirm={() => cancel.mutate({ params: { deliveryId }, body: {} })}
    >
      <p>
        This one delivery is not attempted again. The webhook stays, and a replay can send it as a new
        delivery.
      </p>
    </ConfirmButton>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { Delivery } from '../../api/entities.ts';
import { read } from '../../api/read.ts';
import { RelativeTime, Time, useTimeFormat } from '../../display/zone.tsx';
import { Behind } from './behind.tsx';
import { DeliveryDecisions } from './delivery-decisions.tsx';
import { explainWait } from './explain-wait.ts';
import { useLastChange } from './use-last-change.ts';
import { Step } from './step.tsx';

/** The reason why a delivery waits, and until when. */
export function WhyItWaits({ delivery, projectId }: { delivery: Delivery; projectId: string }) {
  const { endpointId, heldReason, nextAttemptAt, heldUntil, order } = delivery;
  const format = useTimeFormat();
  const endpoint = useQuery({
    ...read('get /api/v1/projects/{projectId}/endpoints/{endpointId}', { params: { projectId, endpointId } }),
    enabled: heldReason === 'disabled' || heldReason === 'order',
  });
  const action =
    heldReason === 'paused' ? 'endpoint.pause' : heldReason === 'disabled' ? 'endpoint.disable' : undefined;
  const change = useLastChange({ projectId, target: endpointId, action });
  const isDated = heldReason === null || heldReason === 'delay' || heldReason === 'breaker';
  const due = isDated ? (heldUntil ?? nextAttemptAt) : null;
  return (
    <Step
      tone={delivery.state === 'held' ? 'warn' : 'info'}
      title={delivery.state === 'held' ? 'Held' : 'Waiting'}
    >
      {explainWait(delivery, endpoint.data, change, (at) => format(at, 'moment'))}
      {order !== null && <Behind order={order} projectId={projectId} />}
      {due !== null && (
        <span className="block">
          Next attempt <RelativeTime at={due} />, at <Time at={due} />.
        </span>
      )}
      <DeliveryDecisions delivery={delivery} />
    </Step>
  );
}

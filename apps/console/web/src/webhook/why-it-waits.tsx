import { useQuery } from '@tanstack/react-query';
import type { Delivery } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { RelativeTime, Time, useTimeFormat } from '../display/zone.tsx';
import { explainWait } from './explain-wait.ts';
import { Step } from './step.tsx';

/** What a delivery waits for, and until when. */
export function WhyItWaits({ delivery, projectId }: { delivery: Delivery; projectId: string }) {
  const { endpointId, heldReason, nextAttemptAt, heldUntil } = delivery;
  const format = useTimeFormat();
  const endpoint = useQuery({
    ...read('get /api/v1/projects/{projectId}/endpoints/{endpointId}', { params: { projectId, endpointId } }),
    enabled: heldReason === 'disabled' || heldReason === 'order',
  });
  const change = useLastChange(
    projectId,
    endpointId,
    heldReason === 'paused' ? 'endpoint.pause' : heldReason === 'disabled' ? 'endpoint.disable' : undefined,
  );
  const isDated = heldReason === null || heldReason === 'delay' || heldReason === 'breaker';
  const due = isDated ? (heldUntil ?? nextAttemptAt) : null;
  return (
    <Step
      tone={delivery.state === 'held' ? 'warn' : 'info'}
      title={delivery.state === 'held' ? 'Held' : 'Waiting'}
    >
      {explainWait(delivery, endpoint.data, change, (at) => format(at, 'moment'))}
      {due !== null && (
        <span className="block">
          Next attempt <RelativeTime at={due} />, at <Time at={due} />.
        </span>
      )}
    </Step>
  );
}

function useLastChange(projectId: string, endpointId: string, action: string | undefined) {
  const { data } = useQuery({
    ...read('get /api/v1/admin-log', { query: { projectId, target: endpointId, limit: '20' } }),
    enabled: action !== undefined,
  });
  const entry = data?.items.find((each) => each.action === action);
  return entry && { actor: entry.actor, at: entry.createdAt };
}

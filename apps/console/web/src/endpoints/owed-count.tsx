import { useQuery } from '@tanstack/react-query';
import type { Endpoint } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { formatCount } from '../display/number-format.ts';

type Props = { endpoint: Endpoint };

/** How many webhooks the endpoint is owed and has not got. */
export function OwedCount({ endpoint }: Props) {
  const waiting = useCount(endpoint, 'waiting');
  const held = useCount(endpoint, 'held');
  const error = waiting.error ?? held.error;
  if (error)
    return `Those that it is owed already are held until you enable it (not counted: ${error.message}).`;
  if (!waiting.data || !held.data) return 'Counting those that it is owed already …';
  const count = waiting.data.count + held.data.count;
  if (count === 0) return 'It is owed none at the moment.';
  const isCapped = waiting.data.capped || held.data.capped;
  return `${formatCount(count, isCapped)} that it is owed already are held until you enable it.`;
}

function useCount({ id, projectId }: Endpoint, state: 'waiting' | 'held') {
  return useQuery(
    read('get /api/v1/projects/{projectId}/webhooks/count', {
      params: { projectId },
      query: { endpointId: id, state },
    }),
  );
}

import { useQuery } from '@tanstack/react-query';
import type { QueryOf } from '../api/operations.ts';
import { read } from '../api/read.ts';
import { formatCount } from '../display/number-format.ts';

type Props = { projectId: string; query: QueryOf<'get /api/v1/projects/{projectId}/webhooks/count'> };

/** How many there are; a figure that cannot be had is a dash with its reason, never 0. */
export function WebhookCount({ projectId, query }: Props) {
  const { data, error } = useQuery({
    ...read('get /api/v1/projects/{projectId}/webhooks/count', { params: { projectId }, query }),
    staleTime: 30_000,
  });
  if (data) return `${formatCount(data.count, data.capped)} in this period`;
  return error ? <span title={error.message}>– (not counted: {error.message})</span> : 'Counting …';
}

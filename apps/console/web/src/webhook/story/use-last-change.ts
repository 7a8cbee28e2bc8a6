import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/read.ts';
import type { Change } from './explain-wait.ts';

type Asked = { projectId: string; target: string; action: string | undefined };

/** The last change of this kind to a thing, from the admin log. Nothing is asked without an action. */
export function useLastChange({ projectId, target, action }: Asked): Change {
  const { data } = useQuery({
    ...read('get /api/v1/admin-log', { query: { projectId, target, limit: '20' } }),
    enabled: action !== undefined,
  });
  const entry = data?.items.find((each) => each.action === action);
  return entry && { actor: entry.actor, at: entry.createdAt };
}

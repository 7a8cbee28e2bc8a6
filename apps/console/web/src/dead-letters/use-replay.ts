import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { BodyOf } from '../api/operations.ts';
import { useAction } from '../api/use-action.ts';
import { formatCount } from '../display/number-format.ts';

const operation = 'post /api/v1/projects/{projectId}/replays';

type Selection = Pick<BodyOf<typeof operation>, 'filter' | 'endpointId' | 'missing' | 'since'>;

/** How many deliveries a replay would make; nothing is asked without a selection. */
export function useReplayCount(projectId: string, selection: Selection | undefined) {
  return useQuery({
    queryKey: [operation, projectId, selection],
    queryFn: ({ signal }) =>
      call(operation, { params: { projectId }, body: { ...selection, dryRun: true } }, signal),
    enabled: selection !== undefined,
    staleTime: 0,
  });
}

/** The replay takes the filter, never the page. */
export function useReplay(onDone: () => void) {
  return useAction(operation, {
    changes: [
      'get /api/v1/projects/{projectId}/dead-letters',
      'get /api/v1/projects/{projectId}/replay-jobs',
    ],
    showsError: true,
    done: ({ count, capped }) => `Replaying ${formatCount(count, capped)}: Dead letters shows its progress`,
    onDone,
  });
}

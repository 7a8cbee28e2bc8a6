import { useAction } from '../api/use-action.ts';
import { formatCount } from '../display/number-format.ts';

const operation = 'post /api/v1/projects/{projectId}/replays';

/** A dry run that counts, and the replay itself. Both take the filter, never the page. */
export function useReplay(onDone: () => void) {
  const dryRun = useAction(operation, { showsError: true });
  const replay = useAction(operation, {
    changes: [
      'get /api/v1/projects/{projectId}/dead-letters',
      'get /api/v1/projects/{projectId}/replay-jobs',
    ],
    showsError: true,
    done: ({ count, capped }) => `Replaying ${formatCount(count, capped)}: its progress is above the list`,
    onDone,
  });
  return { dryRun, replay, error: replay.error ?? dryRun.error };
}

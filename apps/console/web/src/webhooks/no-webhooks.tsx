import { Link } from '@tanstack/react-router';
import { Empty } from '../components/states.tsx';

type Props = { isFiltered: boolean; hasMore: boolean; projectId: string };

/** The reason why the list is empty, with advice. */
export function NoWebhooks({ isFiltered, hasMore, projectId }: Props) {
  if (hasMore) {
    return (
      <Empty title="Nothing on this page">
        The search has not reached the oldest webhooks yet: continue with Older.
      </Empty>
    );
  }
  return isFiltered ? (
    <Empty title="No webhook matches">
      <p>Remove a filter or choose a longer period.</p>
      <Link to="/projects/$projectId/webhooks" params={{ projectId }} className="text-accent underline">
        Show all webhooks
      </Link>
    </Empty>
  ) : (
    <Empty title="No webhook yet">
      <p>
        Give the project’s webhook URL to the provider; the settings say how. A test from the command line:{' '}
        <code className="font-mono text-xs">npm run hqrelay -- send --project {projectId}</code>
      </p>
    </Empty>
  );
}

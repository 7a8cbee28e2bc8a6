import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../api/read.ts';

/** A banner over every page of a project whose alerts do not arrive. */
export function BrokenChannels({ projectId }: { projectId: string }) {
  const { data } = useQuery({
    ...read('get /api/v1/projects/{projectId}/alerts', { params: { projectId }, query: { limit: '200' } }),
    refetchInterval: 60_000,
  });
  const broken = data?.items.filter(({ isBroken }) => isBroken) ?? [];
  const [first] = broken;
  if (!first) return null;
  return (
    <p role="status" className="mt-0 mb-4 rounded-md bg-bad-soft px-3 py-2 break-words text-bad">
      Alerts to {first.target}
      {broken.length > 1 && ` and ${broken.length - 1} more`} do not arrive.{' '}
      <Link to="/projects/$projectId/alerts" params={{ projectId }} className="text-bad underline">
        See why
      </Link>
    </p>
  );
}

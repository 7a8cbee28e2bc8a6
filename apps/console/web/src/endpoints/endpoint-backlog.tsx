import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { NoFigure } from '../components/no-figure.tsx';
import { formatCount } from '../display/number-format.ts';
import { heldText } from './held-text.ts';

const states = [
  ['waiting', 'wait for an attempt'],
  ['held', 'are held'],
  ['dead_lettered', 'are dead letters'],
  ['delivered', 'are delivered'],
] as const;

/** How many of its webhooks are in which state; each figure leads to the rows. */
export function EndpointBacklog({ endpoint }: { endpoint: Endpoint }) {
  return (
    <ul className="m-0 grid list-none gap-1.5 p-0">
      {states.map(([state, label]) => (
        <Backlog key={state} endpoint={endpoint} state={state} label={label} />
      ))}
    </ul>
  );
}

type Props = { endpoint: Endpoint; state: (typeof states)[number][0]; label: string };

function Backlog({ endpoint, state, label }: Props) {
  const { id, projectId } = endpoint;
  const { data, error } = useQuery({
    ...read('get /api/v1/projects/{projectId}/webhooks/count', {
      params: { projectId },
      query: { endpointId: id, state },
    }),
    refetchInterval: 15_000,
  });
  return (
    <li>
      <Link
        to="/projects/$projectId/webhooks"
        params={{ projectId }}
        search={{ endpointId: id, state }}
        className="text-accent underline"
      >
        <span className="tabular-nums">
          {data ? (
            formatCount(data.count, data.capped)
          ) : (
            <NoFigure reason={error?.message ?? 'It is being counted'} />
          )}
        </span>{' '}
        {label}
      </Link>
      {state === 'held' && <HeldReasons endpoint={endpoint} />}
      {!data && error && <span className="text-muted"> ({error.message})</span>}
    </li>
  );
}

function HeldReasons({ endpoint }: { endpoint: Endpoint }) {
  const text = heldText(endpoint);
  return text === '' ? null : <span className="text-muted"> ({text})</span>;
}

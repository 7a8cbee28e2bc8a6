import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import type { EndpointConfig, ProjectConfig } from '@hqrelay/domain/project-config';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import type { Verdict } from '@hqrelay/queue/consumer';
import { encodeMessage } from '@hqrelay/queue/messages';
import { ackIfStored } from '../outgoing/ack-if-stored.ts';
import { park, sendLater, workQueueOf, type OutgoingDeps } from '../outgoing/outgoing.ts';
import { messageOf, type Delivery } from './delivery.ts';

export type RouteDeps = OutgoingDeps & {
  findProject: (projectId: string, now: number) => ProjectLookup | Promise<ProjectLookup>;
  now: () => number;
};

export type Routed = { delivery: Delivery; project: ProjectConfig; endpoint: EndpointConfig };

const configRetryMs = 5_000;
const readTimeoutMs = 1_000;

/**
 * Finds the delivery's endpoint. A delivery without one is delayed, or parked. A promise only where the project is not in
 * memory, or the delivery has no endpoint.
 */
export function route(deps: RouteDeps, delivery: Delivery): Routed | Promise<Routed | Verdict> {
  const found = deps.findProject(delivery.envelope.projectId, deps.now());
  if (!(found instanceof Promise)) return routeIn(deps, delivery, found);
  return found.then((loaded) => routeIn(deps, delivery, loaded));
}

function routeIn(
  deps: RouteDeps,
  delivery: Delivery,
  found: ProjectLookup,
): Routed | Promise<Routed | Verdict> {
  if (found.kind === 'unavailable') return delayUntilConfigured(deps, delivery);
  const project = found.kind === 'found' ? found.project : undefined;
  const endpoint = project?.endpoints.find(({ id }) => id === delivery.fields.endpointId);
  return project && endpoint ? { delivery, project, endpoint } : parkUnlessNew(deps, delivery);
}

/** The cached configuration may be seconds old: while Postgres has the endpoint, the delivery is delayed. */
async function parkUnlessNew(deps: RouteDeps, delivery: Delivery): Promise<Verdict> {
  const { endpointId } = delivery.fields;
  const read = await deps.postgres.tryWithin(readTimeoutMs, (pool) => readEndpoint(pool, endpointId));
  if (!read || read.value) return delayUntilConfigured(deps, delivery);
  const reason = `there is no endpoint ${endpointId}`;
  return ackIfStored(park(deps, 'message', reason, encodeMessage(messageOf(delivery))));
}

function delayUntilConfigured(deps: RouteDeps, delivery: Delivery): Promise<Verdict> {
  const queue = workQueueOf(delivery.fields.lane);
  return ackIfStored(sendLater(deps, queue, messageOf(delivery), configRetryMs));
}

import { lockEndpoint, type Endpoint } from '@hqrelay/db/queries/endpoints';
import type pg from 'pg';
import { done, refused, type ActionResult } from './action.ts';

/** Locks an endpoint that may be changed, and its project. */
export async function takeEndpoint(
  client: pg.PoolClient,
  endpointId: string,
): Promise<ActionResult<Endpoint>> {
  const endpoint = await lockEndpoint(client, endpointId);
  if (!endpoint) return refused('endpoint.not_found', `there is no endpoint ${endpointId}`);
  return endpoint.archivedAt
    ? refused('endpoint.archived', `the endpoint ${endpointId} is archived: it cannot be changed`)
    : done(endpoint);
}

import type { Endpoint, EndpointChanges } from '@hqrelay/db/queries/endpoints';
import * as queries from '@hqrelay/db/queries/endpoints';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from './announce-change.ts';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';

/** Commits changes of an endpoint and announces them. Throws CommandFailure when there is no such endpoint. */
export async function saveEndpoint(
  cli: Cli,
  endpointId: string,
  changes: EndpointChanges,
): Promise<Endpoint> {
  const config = loadConfig(['DATABASE_URL', 'REDIS_URL', 'CONFIG_CACHE_TTL_SECONDS'], cli.env);
  const endpoint = await withDatabase(config.databaseUrl, (pool) =>
    queries.updateEndpoint(pool, endpointId, changes),
  );
  if (!endpoint) throw new CommandFailure(`there is no endpoint ${endpointId}`);
  await announceChange(cli, config, endpoint.projectId);
  return endpoint;
}

import { readAlertRule } from '@hqrelay/db/queries/alert-rules';
import { readApiKey } from '@hqrelay/db/queries/api-keys';
import { findDelivery } from '@hqrelay/db/queries/deliveries';
import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import { readProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { readProject } from '@hqrelay/db/queries/projects';
import { readReplayJob } from '@hqrelay/db/queries/replay-jobs';
import { readSession } from '@hqrelay/db/queries/sessions';
import { readWebhook } from '@hqrelay/db/queries/webhooks';
import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import type { ErrorAnswer } from './answer.ts';
import type { Caller } from './access/caller.ts';
import { refuse, type ApiRefusal, type Named } from './route.ts';

/** A project id, null for a thing of no one project, undefined when there is no such thing. */
type ProjectOf = (pool: pg.Pool, id: string) => Promise<string | null | undefined>;

const projectOf: Readonly<Record<Named, ProjectOf>> = {
  project: async (pool, id) => (await readProject(pool, id))?.id,
  endpoint: async (pool, id) => (await readEndpoint(pool, id))?.projectId,
  secret: async (pool, id) => (await readProjectSecret(pool, id))?.projectId,
  webhook: async (pool, id) => {
    const receivedAt = timeIn(id);
    return receivedAt === undefined ? undefined : (await readWebhook(pool, { id, receivedAt }))?.projectId;
  },
  replay_job: async (pool, id) => (await readReplayJob(pool, id))?.projectId,
  delivery: async (pool, id) => (await findDelivery(pool, id))?.projectId,
  alert: async (pool, id) => (await readAlertRule(pool, id))?.projectId,
  api_key: async (pool, id) => (await readApiKey(pool, id))?.projectId,
  session: async (pool, id) => (await readSession(pool, id))?.projectId,
};

const words: Partial<Record<Named, string>> = { replay_job: 'replay job', api_key: 'API key' };

/**
 * Answers 404 unless every thing that the path names exists, is of the project in the path, and is visible to the caller. A thing of
 * another project is answered like one that does not exist.
 */
export async function refuseUnlessVisible(
  pool: pg.Pool,
  caller: Caller,
  names: Readonly<Record<string, Named>>,
  params: Readonly<Record<string, string>>,
): Promise<ErrorAnswer | undefined> {
  for (const [param, named] of Object.entries(names)) {
    const id = params[param] as string;
    const projectId = await projectOf[named](pool, id);
    const isVisible =
      projectId !== undefined &&
      (caller.projectId === null || projectId === caller.projectId) &&
      (params['projectId'] === undefined || projectId === params['projectId']);
    if (!isVisible) {
      const message = `there is no ${words[named] ?? named} ${id}`;
      return { statusCode: 404, code: `${named}.not_found`, message };
    }
  }
  return undefined;
}

/** Answers 404 unless each endpoint is of this project. */
export async function refuseOtherEndpoints(
  pool: pg.Pool,
  projectId: string,
  endpointIds: readonly string[],
): Promise<ApiRefusal | undefined> {
  for (const id of endpointIds) {
    if ((await projectOf.endpoint(pool, id)) !== projectId) {
      return refuse(404, 'endpoint.not_found', `there is no endpoint ${id}`);
    }
  }
  return undefined;
}

function timeIn(id: string): number | undefined {
  try {
    return timeOfId(id);
  } catch {
    return undefined;
  }
}

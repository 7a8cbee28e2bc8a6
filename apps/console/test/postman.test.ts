import newman from 'newman';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { routes } from '../src/routes/routes.ts';
import { openConsoleWorld } from './console-world.ts';

const { url, sql, get, post, admin, createProject, makeSession } = await openConsoleWorld();

/** One thing for each variable of the collection. */
async function makeVariables(): Promise<Record<string, string>> {
  const projectId = await createProject();
  const base = `/api/v1/projects/${projectId}`;
  const endpoint = await post(`${base}/endpoints`, { url: 'http://127.0.0.1:9/' });
  const endpointId = endpoint.body.endpoint.id as string;
  const webhooksId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     values ($1, 'delivery', 'schedule used up', $2, $3, $4, now())`,
    [deliveryId(webhooksId, endpointId), projectId, webhooksId, endpointId],
  );
  // Of an endpoint that no operation of the collection disables.
  const another = await post(`${base}/endpoints`, { url: 'http://127.0.0.1:9/' });
  const waiting = { projectId, endpointId: another.body.endpoint.id as string };
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [waiting.endpointId] });
  const job = await post(`${base}/replays`, { filter: { state: 'dead_lettered' } });
  const apiKey = await post('/api/v1/api-keys', { name: 'k', role: 'viewer' });
  const alert = await post(`${base}/alerts`, { on: ['dead_letter'], email: 'ops@example.com' });
  const session = await get('/api/v1/me', { session: await makeSession('viewer') });
  return {
    baseUrl: url,
    apiKey: admin(),
    projectId,
    endpointId,
    webhooksId,
    deliveryId: await recordAttempt(sql, { ...waiting, webhookLogId }),
    q: webhooksId,
    secretId: (await get(`${base}/secrets`)).body.items[0].id,
    replayJobsId: job.body.jobId,
    alertId: alert.body.alert.id,
    apiKeysId: apiKey.body.apiKeyId,
    sessionsId: session.body.id,
  };
}

it('the Postman collection of the API runs with newman: every operation answers its documented status', async () => {
  const collection = (await (await fetch(`${url}/api/postman.json`)).json()) as object;
  const variables = Object.entries(await makeVariables()).map(([key, value]) => ({ key, value }));
  const summary = await new Promise<newman.NewmanRunSummary>((resolve, reject) => {
    newman.run({ collection, envVar: variables, reporters: [] }, (error, ran) =>
      error ? reject(error) : resolve(ran),
    );
  });
  expect(summary.run.failures.map(({ source, error }) => `${source?.name}: ${error.message}`)).toEqual([]);
  const names = summary.run.executions.map(({ item }) => item.name);
  const withKey = routes.filter(({ needsSession, answer }) => !needsSession && answer !== 'events');
  expect(new Set(names)).toEqual(new Set(withKey.map(({ name }) => name)));
});

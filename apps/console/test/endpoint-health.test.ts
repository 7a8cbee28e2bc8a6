import { changeBreaker } from '@hqrelay/db/queries/endpoint-breakers';
import { holdWebhook, recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, createProject } = await openConsoleWorld();

async function makeEndpoint() {
  const projectId = await createProject();
  const path = `/api/v1/projects/${projectId}/endpoints`;
  const { body } = await post(path, { url: 'http://127.0.0.1:9/' });
  return { projectId, path, endpointId: body.endpoint.id as string };
}

it('an endpoint that has not failed has a closed breaker and no held delivery', async () => {
  const { path, endpointId } = await makeEndpoint();
  const health = {
    breaker: { state: 'closed', failures: 0, failingSince: null, openedAt: null, probeAt: null },
    held: {},
    heldCapped: false,
  };
  expect((await get(`${path}/${endpointId}`)).body).toMatchObject(health);
  expect((await get(path)).body.items).toMatchObject([{ id: endpointId, ...health }]);
});

it('an endpoint is read with the state of its breaker and its held deliveries by reason', async () => {
  const { projectId, path, endpointId } = await makeEndpoint();
  const since = Date.UTC(2026, 10, 1);
  await changeBreaker(sql, endpointId, () => ({
    state: 'open',
    failures: 12,
    failingSince: since,
    openedAt: since + 10_000,
    probeAt: since + 15_000,
    intervalMs: 5_000,
    closedAt: null,
  }));
  for (const reason of ['breaker', 'breaker', 'delay'] as const) {
    const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
    await holdWebhook(
      sql,
      { webhookLogId, endpointId, reason, dueAt: since, message: Buffer.from('{}') },
      since,
    );
  }
  const health = {
    breaker: {
      state: 'open',
      failures: 12,
      failingSince: '2026-11-01T00:00:00.000Z',
      openedAt: '2026-11-01T00:00:10.000Z',
      probeAt: '2026-11-01T00:00:15.000Z',
    },
    held: { breaker: 2, delay: 1 },
    heldCapped: false,
  };
  expect((await get(`${path}/${endpointId}`)).body).toMatchObject(health);
  expect((await get(path)).body.items).toMatchObject([health]);
});

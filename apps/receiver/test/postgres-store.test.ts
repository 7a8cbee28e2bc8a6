import { appendAudit, type AuditRow } from '@hqrelay/db/queries/append-audit';
import { reserveKeys } from '@hqrelay/db/queries/idempotency-keys';
import { bothKeys } from '@hqrelay/domain/inbound/reservation';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KeyRequest } from '../src/reservation/reservation-store.ts';
import { openStores, type OpenStores } from './reservation-stores.ts';

let stores: OpenStores;

beforeAll(async () => {
  stores = await openStores();
});

afterAll(() => stores.close());

it('content that was accepted under another webhook id keeps its id when a crashed request is retried', async () => {
  const projectId = freshId();
  const contentKeys = [{ name: 'signature', isBody: false, ttlSeconds: 600 }];
  const ask = async (webhookId: string) => {
    const request: KeyRequest = { ...requestOf(projectId), webhookId, contentKeys };
    const answer = await waitFor('an answer', () => stores.inPostgres.store.reserve(request));
    if (answer.kind !== 'held') throw new Error(answer.kind);
    return answer;
  };
  // The receiver of the first request crashed before it reserved the content.
  const first = { ...requestOf(projectId), windowSeconds: 3_600, reservationSeconds: 10 };
  await reserveKeys(stores.postgres.pool, [first]);
  // The second one answered 202 and crashed before it accepted its keys.
  const second = await ask('evt_2');
  expect(second.isMine).toBe(true);
  await stores.inPostgres.expire(projectId);

  const retry = await ask('evt_1');
  expect(retry).toMatchObject({ isMine: true, held: { id: second.held.id } });
});

it('a webhook accepted in Redis is found in Postgres only after its spilled row is written', async () => {
  const first = requestOf(freshId());
  const accepted = await waitFor('an answer', () => stores.inRedis.store.reserve(first));
  if (accepted.kind !== 'held') throw new Error(accepted.kind);
  accepted.handle.accept(first, bothKeys);
  // Redis does not answer the duplicate, which asks Postgres.
  const askPostgres = () =>
    waitFor('an answer', () =>
      stores.inPostgres.store.reserve({ ...first, id: freshId(), token: freshId() }),
    );

  const early = await askPostgres();
  if (early.kind !== 'held') throw new Error(early.kind);
  expect(early).toMatchObject({ isMine: true, prior: null });
  early.handle.release();
  await waitFor('the release', async () => {
    const keys = await stores.inPostgres.keysOf(first.projectId);
    return keys['evt_1']?.startsWith('released');
  });

  await appendAudit(stores.postgres.pool, [queuedRow(first)]);
  expect(await askPostgres()).toMatchObject({ prior: { id: first.id, state: 'accepted' } });
});

function requestOf(projectId: string): KeyRequest {
  return {
    projectId,
    webhookId: 'evt_1',
    id: freshId(),
    payloadSha256: 'aa',
    token: freshId(),
    rateLimitPerMinute: null,
    idempotencyTtlSeconds: 3_600,
    onConflict: 'reject',
    contentKeys: [],
  };
}

function queuedRow({ id, projectId, webhookId, payloadSha256 }: KeyRequest): AuditRow {
  const request = { id, projectId, webhookId, payloadSha256, payloadBytes: 2, remoteAddr: null };
  const outcome = {
    eventType: null,
    status: 'queued',
    reason: null,
    endpointIds: [],
    duplicateOf: null,
  } as const;
  return { kind: 'webhook', log: { ...request, ...outcome, correlationId: 'test' }, payload: null };
}

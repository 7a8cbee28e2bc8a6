import { appendAudit } from '@hqrelay/db/queries/append-audit';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, url, admin, get, remove, makeKey, makeSession, createProject } = await openConsoleWorld();
const open = new Set<AbortController>();
afterEach(() => {
  for (const controller of open) controller.abort();
  open.clear();
});

type Event = { event: string; id: string; data: Record<string, unknown> };

/** Opens a stream, and collects its events until it ends or `close` is called. */
async function stream(
  projectId: string,
  { key = admin(), session = '', lastEventId = '', seconds = 60 } = {},
) {
  const controller = new AbortController();
  open.add(controller);
  const response = await fetch(`${url}/api/v1/projects/${projectId}/live?seconds=${seconds}`, {
    headers: {
      ...(session ? { cookie: session } : { authorization: `Bearer ${key}` }),
      ...(lastEventId && { 'last-event-id': lastEventId }),
    },
    signal: controller.signal,
  });
  const events: Event[] = [];
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap(parse));
    }
  })().catch(() => undefined);
  return { response, events, ended: reading, close: () => controller.abort() };
}

function parse(block: string): Event[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const event = field('event');
  return event === undefined
    ? []
    : [{ event, id: field('id') ?? '', data: JSON.parse(field('data') ?? '{}') as Record<string, unknown> }];
}

const receive = (projectId: string, at = Date.now()) =>
  recordWebhook(
    sql,
    { id: newId(at), projectId, eventType: 'order.paid' },
    {
      payload: Buffer.from('{"card":"4242"}'),
      headers: [['x-secret', 'hush']],
      query: 'token=hush',
    },
  );

async function attempt(projectId: string, webhookLogId: string): Promise<string> {
  const id = newId(Date.now());
  const endpointId = newId(Date.now());
  const row = {
    id,
    deliveryId: deliveryId(webhookLogId, endpointId),
    webhookLogId,
    projectId,
    endpointId,
    lane: 'live' as const,
    attemptNum: 1,
    status: 'failed' as const,
    statusCode: 503,
    latencyMs: 5,
    error: 'HTTP 503',
    responseBody: 'hush',
    correlationId: 'c',
    nextAttemptAt: null,
  };
  await appendAudit(sql, [{ kind: 'attempt', attempt: row }]);
  return id;
}

const idsOf = (events: readonly Event[]) => events.map(({ data }) => data['id']);

describe('the live stream of a project', () => {
  it('webhooks and attempts arrive once each, as facts without payload, headers or answers', async () => {
    const projectId = await createProject();
    const live = await stream(projectId, { key: await makeKey('viewer', { projectId, hidePayloads: true }) });
    expect(live.response.headers.get('content-type')).toMatch('text/event-stream');
    const webhook = await receive(projectId);
    const attempted = await attempt(projectId, webhook);
    await receive(await createProject());
    await waitFor('both events', () => live.events.length >= 2);
    const another = await receive(projectId);
    await waitFor('the third event', () => live.events.length >= 3);
    expect(new Set(idsOf(live.events))).toEqual(new Set([webhook, attempted, another]));
    expect(live.events).toHaveLength(3);
    expect(live.events.find(({ event }) => event === 'attempt')?.data).toMatchObject({
      webhookLogId: webhook,
      status: 'failed',
      statusCode: 503,
    });
    expect(JSON.stringify(live.events)).not.toMatch(/hush|4242/);
  });

  it('a row that is committed after a newer one is sent too', async () => {
    const projectId = await createProject();
    const live = await stream(projectId);
    const first = await receive(projectId, Date.now() + 300);
    await waitFor('the first event', () => live.events.length === 1);
    const late = await receive(projectId, Date.now());
    await waitFor('the late event', () => live.events.length === 2);
    expect(idsOf(live.events)).toEqual([first, late]);
  });

  it('a stream that resumes sends what came meanwhile', async () => {
    const projectId = await createProject();
    const live = await stream(projectId);
    await receive(projectId);
    await waitFor('the first event', () => live.events.length === 1);
    live.close();
    const meanwhile = await receive(projectId);
    const resumed = await stream(projectId, { lastEventId: live.events[0]?.id as string });
    await waitFor('the missed event', () => idsOf(resumed.events).includes(meanwhile));
    const fresh = await stream(projectId);
    const next = await receive(projectId);
    await waitFor('the next event', () => fresh.events.length > 0);
    expect(idsOf(fresh.events)).toEqual([next]);
  });

  it('a stream ends after its seconds', async () => {
    const live = await stream(await createProject(), { seconds: 1 });
    await live.ended;
    expect(live.events).toEqual([]);
  });

  it.each(['revoked', 'expired'])(
    'the stream of a key or a session that is %s ends within seconds; the streams of others stay',
    async (how) => {
      const projectId = await createProject();
      const key = await makeKey('viewer', { projectId });
      const session = await makeSession('viewer', { projectId });
      const [ofKey, ofSession, other] = await Promise.all([
        stream(projectId, { key }),
        stream(projectId, { session }),
        stream(projectId),
      ]);
      const { id: keyId } = (await get('/api/v1/me', { key })).body;
      const { id: sessionId } = (await get('/api/v1/me', { session })).body;
      if (how === 'revoked') {
        await remove(`/api/v1/api-keys/${keyId}`);
        await remove(`/api/v1/sessions/${sessionId}`);
      } else {
        await sql.query('update api_keys set expires_at = now() where id = $1', [keyId]);
        await sql.query("update sessions set last_used_at = now() - interval '2 hours' where id = $1", [
          sessionId,
        ]);
      }
      let ended = 0;
      for (const each of [ofKey, ofSession]) void each.ended.then(() => (ended += 1));
      const { undisturbedMs } = await measureUndisturbed(() =>
        waitFor('both streams to end', () => ended === 2),
      );
      expect(undisturbedMs).toBeLessThan(5_000);
      expect((await get(`/api/v1/projects/${projectId}/live`, { session })).statusCode).toBe(401);
      const webhook = await receive(projectId);
      await waitFor('the event of the other stream', () => idsOf(other.events).includes(webhook));
      expect([...ofKey.events, ...ofSession.events]).toEqual([]);
    },
  );

  it('a caller may have ten streams, and another one when one of them is closed', async () => {
    const projectId = await createProject();
    const key = await makeKey('viewer', { projectId });
    const streams = await Promise.all(Array.from({ length: 10 }, () => stream(projectId, { key })));
    const path = `/api/v1/projects/${projectId}/live`;
    expect(await get(path, { key })).toMatchObject({
      statusCode: 429,
      body: { error: { code: 'live.too_many' } },
    });
    streams[0]?.close();
    await waitFor('a free stream', async () => (await get(`${path}?seconds=1`, { key })).statusCode === 200);
  });

  it('a console serves 200 streams, and another one when one of them is closed', async () => {
    const projectId = await createProject();
    const path = `/api/v1/projects/${projectId}/live?seconds=1`;
    const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey('viewer', { projectId })));
    const streams: Awaited<ReturnType<typeof stream>>[] = [];
    // Ten at a time: requests that wait for a connection to Postgres for too long are refused.
    for (const key of keys) {
      const ten = Array.from({ length: 10 }, () => stream(projectId, { key, seconds: 300 }));
      streams.push(...(await Promise.all(ten)));
    }
    expect(streams.map(({ response }) => response.status)).toEqual(Array.from({ length: 200 }, () => 200));
    const key = await makeKey('viewer', { projectId });
    expect(await get(path, { key })).toMatchObject({
      statusCode: 503,
      body: { error: { code: 'live.full' } },
    });
    const webhook = await receive(projectId);
    await waitFor('the event on every stream', () =>
      streams.every(({ events }) => idsOf(events).includes(webhook)),
    );
    streams[0]?.close();
    await waitFor('a free stream', async () => (await get(path, { key })).statusCode === 200);
  });
});

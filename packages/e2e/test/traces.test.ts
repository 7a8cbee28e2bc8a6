import { replayWebhook } from '@hqrelay/actions/replay/replay-webhook';
import { spanIdOf } from '@hqrelay/domain/delivery/trace-context';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld();
const [endpoint, collector] = [await openEndpoint(), await openEndpoint()];
const env = {
  ...world.env,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace(/\/[^/]*$/, ''),
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
};
const apps = await Promise.all([openApp('receiver', env), openApp('worker', env)]);
await Promise.all(apps.map((app) => app.waitUntilReady()));
const [receiver, worker] = apps;
// While RabbitMQ starts, webhooks go to the outbox, and have no span of a publish.
await waitFor('the receiver to reach every store', async () => {
  const response = await fetch(`${receiver.url}/health/ready`);
  return ((await response.json()) as { status: string }).status === 'ready';
});

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
};
type Export = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

/** The spans that the collector got, of a trace, in the order in which they began. */
function spansOf(traceId: string): Span[] {
  return collector.requests
    .flatMap(({ body }) => (JSON.parse(body.toString()) as Export).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .filter((span) => span.traceId === traceId)
    .toSorted((a, b) => Number(a.startTimeUnixNano) - Number(b.startTimeUnixNano));
}

const named = (spans: readonly Span[], name: string) => spans.filter((span) => span.name === name);
const attribute = (span: Span | undefined, key: string) => {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};
const waitForSpans = (traceId: string, name: string, count: number) =>
  waitFor(`${count} spans ${name}`, () => {
    const spans = spansOf(traceId);
    return named(spans, name).length >= count && spans;
  });

describe('traces', () => {
  it('a webhook is one trace from its receipt through a retry to a replay, and the endpoint gets the span of each attempt', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s' });
    endpoint.answerWith((_request, count) => (count === 1 ? { statusCode: 503 } : {}));

    const { id } = (await postWebhook(receiver.url, project, { webhookId: 'evt-1' })).body as { id: string };
    await endpoint.waitForRequests(2);
    const traceId = id.replaceAll('-', '');
    await waitForSpans(traceId, 'delivery.attempt', 2);
    const input = { webhookLogId: id, requestedBy: 'test', now: Date.now() };
    const actor = 'cli:test' as const;
    expect(await replayWebhook({ pool: world.sql, actor }, input)).toMatchObject({ kind: 'done' });
    await waitForSpans(traceId, 'delivery.attempt', 3);
    await waitForSpans(traceId, 'delivery.wait', 3);
    // The receiver exports its spans by itself.
    const spans = await waitForSpans(traceId, 'webhook.publish', 1);

    const [receipt] = named(spans, 'webhook.receive');
    const attempts = named(spans, 'delivery.attempt');
    const [replay] = named(spans, 'webhook.replay');
    expect(receipt?.spanId).toBe(spanIdOf(id));
    expect(receipt?.parentSpanId).toBeFalsy();
    expect(named(spans, 'webhook.publish')).toMatchObject([{ parentSpanId: receipt?.spanId }]);
    expect(
      attempts.map((span) => [attribute(span, 'hqrelay.attempt'), attribute(span, 'hqrelay.lane')]),
    ).toEqual([
      [1, 'live'],
      [2, 'retry'],
      [1, 'replay'],
    ]);
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([
      receipt?.spanId,
      receipt?.spanId,
      replay?.spanId,
    ]);
    expect(replay?.parentSpanId).toBe(receipt?.spanId);
    expect(attempts[0]?.status).toMatchObject({ code: 2, message: 'HTTP 503' });
    expect(attempts[1]?.status.code ?? 0).toBe(0);
    expect(named(spans, 'delivery.wait')).toHaveLength(3);
    for (const span of spans) {
      expect(Number(span.endTimeUnixNano)).toBeGreaterThanOrEqual(Number(span.startTimeUnixNano));
    }
    expect(endpoint.requests.map(({ headers }) => headers['traceparent'])).toEqual(
      attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    );
    const rows = await waitFor('the rows of the attempts', async () => {
      const found = await world.sql.query<{ id: string }>(
        'select id from delivery_attempts where webhook_log_id = $1 order by attempted_at',
        [id],
      );
      return found.rows.length === 3 && found.rows;
    });
    expect(rows.map((row) => spanIdOf(row.id))).toEqual(attempts.map(({ spanId }) => spanId));
  });

  it("a provider's traceparent is the parent of the receipt, and reaches the endpoint as it was", async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const traceparent = `00-${traceId}-${spanId}-01`;
    const before = endpoint.requests.length;
    const headers = { traceparent, tracestate: 'vendor=1' };
    const { id } = (await postWebhook(receiver.url, project, { headers })).body as { id: string };
    await endpoint.waitForRequests(before + 1);
    expect(endpoint.requests.at(-1)?.headers).toMatchObject({ traceparent, tracestate: 'vendor=1' });
    await waitForSpans(traceId, 'delivery.attempt', 1);
    const spans = await waitForSpans(traceId, 'webhook.receive', 1);
    expect(named(spans, 'webhook.receive')).toMatchObject([{ parentSpanId: spanId, spanId: spanIdOf(id) }]);
    expect(named(spans, 'delivery.attempt')).toMatchObject([{ parentSpanId: spanIdOf(id) }]);
  });

  it('an unsampled trace is not exported, a duplicate links to the first receipt, and a refused request has no span', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const unsampled = '5bf92f3577b34da6a3ce929d0e0e4736';
    const before = endpoint.requests.length;
    const headers = { traceparent: `00-${unsampled}-00f067aa0ba902b7-00` };
    await postWebhook(receiver.url, project, { headers, webhookId: 'a' });
    const first = (await postWebhook(receiver.url, project, { webhookId: 'b' })).body;
    await postWebhook(receiver.url, project, { webhookId: 'b' });
    const refused = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
    expect((await postWebhook(receiver.url, project, { headers: refused })).statusCode).toBe(401);
    await endpoint.waitForRequests(before + 2);
    await receiver.end();
    await worker.end();

    const all = JSON.stringify(collector.requests.map(({ body }) => body.toString()));
    expect(all).not.toContain(unsampled);
    const receipts = collector.requests
      .flatMap(({ body }) => (JSON.parse(body.toString()) as Export).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => named(spans, 'webhook.receive')))
      .filter((span) => attribute(span, 'hqrelay.project.id') === project.id);
    expect(receipts.map((span) => String(attribute(span, 'hqrelay.outcome'))).toSorted()).toEqual([
      'duplicate',
      'queued',
    ]);
    const duplicate = receipts.find((span) => attribute(span, 'hqrelay.outcome') === 'duplicate');
    const traceId = (first.id as string).replaceAll('-', '');
    expect(duplicate?.traceId).not.toBe(traceId);
    expect(duplicate?.links).toMatchObject([{ traceId, spanId: spanIdOf(first.id as string) }]);
    expect(all).not.toContain(project.secret);
  });
});

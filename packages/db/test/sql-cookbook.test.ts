import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { partitionsReadBy, readCookbook, withVariables } from './cookbook-queries.ts';
import { at, type Story, tellStory } from './cookbook-story.ts';

const queries = readCookbook();
const month = new Date(at('02:00:00')).toISOString().slice(0, 7).replace('-', '_');
const time = (text: string) => new Date(at(text));

let world: World;
let story: Story;
/** With the privileges of `hqrelay_reader` alone. */
let reader: pg.Client;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  story = await tellStory(world);
  reader = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await reader.connect();
  await reader.query('set role hqrelay_reader');
});

afterAll(async () => {
  await reader.end();
  await world.close();
});

function statement(heading: string, more: Record<string, string> = {}): string {
  const variables = {
    project_id: story.projectId,
    endpoint_id: story.shop,
    webhook_id: 'evt_payment_1',
    correlation_id: 'night-1',
    id: story.paid,
    since: time('00:00:00').toISOString(),
    until: time('23:59:59').toISOString(),
    ...more,
  };
  return withVariables(queries.get(heading) ?? '', variables);
}

type Row = Record<string, unknown>;

/** The rows that each query returns, in its order, with the fields that the story fixes. */
const answers: Record<string, { of?: Record<string, string>; rows: () => Row[] }> = {
  'What happened to this payment webhook at 2 AM?': {
    rows: () => [
      { at: time('02:00:00'), what: 'request: queued', detail: 'payment.captured' },
      {
        at: time('02:00:01'),
        what: 'attempt 1: failed',
        endpoint_id: story.shop,
        detail: 'HTTP 503, HTTP 503, 120 ms',
      },
      {
        at: time('02:00:02'),
        what: 'attempt 1: delivered',
        endpoint_id: story.books,
        detail: 'HTTP 200, 4200 ms',
      },
      {
        at: time('02:00:06'),
        what: 'attempt 2: delivered',
        endpoint_id: story.shop,
        detail: 'HTTP 200, 80 ms',
      },
      { at: time('02:00:30'), what: 'request: duplicate, 3 times' },
      { at: time('02:01:00'), what: 'request: duplicate' },
      { at: time('02:02:00'), what: 'request: conflict', detail: 'body.altered' },
    ],
  },
  'How often was this id sent?': {
    rows: () => [
      { status: 'queued', requests: '1', bodies: '1' },
      { status: 'duplicate', requests: '4', first: time('02:00:30'), last: time('02:01:00') },
      { status: 'conflict', requests: '1' },
    ],
  },
  'One webhook by the id of the 202': {
    rows: () => [{ webhook_id: 'evt_payment_1', status: 'queued', payload: '{"amount":100}' }],
  },
  'Failures of an endpoint by hour': {
    rows: () => [
      { attempts: '4', failed: '3', dead_lettered: '0', most_common_error: 'HTTP 503' },
      { attempts: '1', failed: '1', dead_lettered: '1', most_common_error: 'no answer within 10 s' },
    ],
  },
  'The slowest attempts': {
    rows: () => [
      { latency_ms: 10_000, webhook_log_id: story.lost, url: 'https://shop.example/hooks' },
      { latency_ms: 10_000, webhook_log_id: story.lost },
      { latency_ms: 4_200, webhook_log_id: story.paid, url: 'https://books.example/in' },
      { latency_ms: 120, status: 'failed', status_code: 503 },
      { latency_ms: 80, status: 'delivered' },
      { latency_ms: 30, webhook_log_id: story.late },
    ],
  },
  'The slowest attempts (2)': {
    rows: () => [
      { url: 'https://books.example/in', attempts: '1', p50_p95_p99_ms: [4_200, 4_200, 4_200] },
      { url: 'https://shop.example/hooks', attempts: '5', p50_p95_p99_ms: [120, 10_000, 10_000] },
    ],
  },
  'Retried, then delivered': {
    rows: () => [
      {
        webhook_log_id: story.paid,
        endpoint_id: story.shop,
        attempts: 2,
        first_attempt: time('02:00:01'),
        delivered_at: time('02:00:06'),
        an_error: 'HTTP 503',
      },
    ],
  },
  'Owed, but not delivered': {
    rows: () => [
      {
        webhook_id: 'evt_payment_2',
        state: 'dead_lettered',
        attempts: 2,
        dead_reason: 'the schedule is used up',
      },
      { webhook_id: 'evt_order_3', state: 'held', attempts: 1, held_reason: 'paused', last_status_code: 503 },
      { webhook_id: 'evt_order_4', state: 'waiting', attempts: 0, url: 'https://books.example/in' },
    ],
  },
  'Dead letters, and what became of them': {
    rows: () => [
      {
        dead_at: time('03:10:10'),
        webhook_log_id: story.lost,
        reason: 'the schedule is used up',
        became: 'replayed',
      },
      { reason: 'erased: request 4711', became: 'erased', closed_at: time('05:00:00'), replay_id: null },
    ],
  },
  "One project's day": {
    rows: () => [
      { status: 'rejected', event_type: null, requests: '42', bytes: '404' },
      { status: 'duplicate', requests: '4', bytes: '8' },
      { status: 'queued', event_type: 'order.paid', requests: '2' },
      { status: 'queued', event_type: 'payment.captured', requests: '2', first: time('02:00:00') },
      { status: 'conflict', requests: '1' },
      { status: 'rate_limited', requests: '1' },
    ],
  },
  "One project's day (2)": {
    rows: () => [
      { url: 'https://books.example/in', state: 'delivered', deliveries: '1', attempts: '1' },
      { url: 'https://books.example/in', state: 'waiting', deliveries: '1', attempts: '0' },
      { url: 'https://shop.example/hooks', state: 'dead_lettered', deliveries: '1', attempts: '2' },
      { url: 'https://shop.example/hooks', state: 'delivered', deliveries: '1', attempts: '2' },
      { url: 'https://shop.example/hooks', state: 'held', deliveries: '1', attempts: '1' },
    ],
  },
  'Rejected requests by reason': {
    rows: () => [
      {
        reason: 'signature.mismatch',
        requests: '41',
        addresses: '2',
        first: time('02:10:00'),
        last: time('02:11:00'),
      },
      { reason: 'timestamp.stale', requests: '1' },
    ],
  },
  'Everything of one correlation id': {
    rows: () => [
      { what: 'request: queued', webhook_log_id: story.paid },
      { what: 'attempt 1: failed', endpoint_id: story.shop },
      { what: 'attempt 1: delivered', endpoint_id: story.books },
      { what: 'attempt 2: delivered', endpoint_id: story.shop },
    ],
  },
  'What waits now': {
    rows: () => [
      { url: 'https://shop.example/hooks', reason: 'paused', held: '1', oldest_webhook: time('02:45:00') },
    ],
  },
  'Which ordered deliveries wait, and behind which webhook?': {
    rows: () => [
      {
        url: 'https://shop.example/hooks',
        ordering_key: 'order-1',
        deliveries: '2',
        oldest_webhook: time('02:30:00'),
        behind: story.lost,
      },
    ],
  },
  'Who changed what?': {
    of: { until: 'infinity' },
    rows: () => [{ actor: 'cli:ana', action: 'endpoint.pause', target: story.shop }],
  },
};

describe('docs/sql.md', () => {
  it('docs/sql.md has no query whose answer this test does not know', () => {
    expect([...queries.keys()].toSorted()).toEqual(Object.keys(answers).toSorted());
  });

  it.each(Object.entries(answers))(
    'hqrelay_reader gets the rows of the story from "%s"',
    async (heading, answer) => {
      const { rows } = await reader.query<Row>(statement(heading, answer.of));
      const expected = answer.rows();
      expect(rows).toHaveLength(expected.length);
      expect(rows).toMatchObject(expected);
    },
  );

  it('the timeline of a dead webhook ends with its dead letter and its replay', async () => {
    const heading = 'What happened to this payment webhook at 2 AM?';
    const { rows } = await reader.query<Row>(statement(heading, { webhook_id: 'evt_payment_2' }));
    expect(rows.slice(-2)).toMatchObject([
      {
        at: time('03:10:10'),
        what: 'dead letter',
        endpoint_id: story.shop,
        detail: 'the schedule is used up',
      },
      { at: time('05:00:00'), what: 'replay', detail: 'by ana@laptop' },
    ]);
  });

  it.each(Object.keys(answers))('"%s" reads the partitions of its period alone', async (heading) => {
    const read = await partitionsReadBy(reader, statement(heading));
    const others = read.filter((name) => !name.endsWith(month));
    // The attempts of an owed delivery may come after the period, never before it.
    const isByView = queries.get(heading)?.includes('delivery_status') === true;
    expect(
      isByView ? others.filter((name) => name.slice(-7) < month || name.startsWith('webhook_logs')) : others,
    ).toEqual([]);
    const usesPartitions = /webhook_logs|delivery_attempts|delivery_status/.test(queries.get(heading) ?? '');
    expect(read.length > 0).toBe(usesPartitions);
  });
});

import { describe, expect, it } from 'vitest';
import type { EndpointFacts, ProjectFacts } from './facts.ts';
import { findInsights } from './find-insights.ts';
import { wordingForPeople } from './wording.ts';

const hourMs = 3_600_000;
const until = Date.UTC(2026, 2, 2, 12);
const period = { since: until - 24 * hourMs, until, previousSince: until - 48 * hourMs };
const nothing = { queued: 0, duplicate: 0, conflict: 0, rate_limited: 0, rejected: 0, failed_to_queue: 0 };
const webhookId = '019c0000-0000-7000-8000-000000000001';

const factsOf = (more: Partial<ProjectFacts> = {}): ProjectFacts => ({
  projectId: '019c0000-0000-7000-8000-00000000000a',
  provider: 'stripe',
  rateLimitPerMinute: 100,
  period,
  endpoints: [],
  received: { now: nothing, before: nothing },
  notQueued: [],
  untaken: { groups: [], examined: 0 },
  busiestMinute: null,
  newestIds: [],
  ...more,
});
const endpointOf = (more: Partial<EndpointFacts> = {}): EndpointFacts => ({
  id: '019c0000-0000-7000-8000-00000000000e',
  url: 'https://ana:secret@shop.example/hooks?token=hunter2#x',
  timeoutMs: 10_000,
  state: 'enabled',
  failingSince: null,
  now: null,
  before: null,
  failures: [],
  secondAttempts: { recorded: 0, delivered: 0, exampleIds: [] },
  deadLetters: null,
  held: [],
  slowIds: [],
  ...more,
});
const sums = (delivered: number, failed: number, p95 = 80) => ({
  delivered,
  failed,
  deadLettered: 0,
  p50: 20,
  p95,
});
const failure = (more: object = {}) => ({
  statusCode: 503,
  error: 'HTTP 503',
  attempts: 3,
  firstAt: until - hourMs,
  lastAt: until - 60_000,
  exampleIds: [webhookId],
  responseBody: null,
  ...more,
});
const waiting = { count: 3, isCapped: false, oldestAt: until - 2 * hourMs, exampleIds: [webhookId] };
const find = (more: Partial<ProjectFacts>) => findInsights(factsOf(more), wordingForPeople);
const ofEndpoint = (more: Partial<EndpointFacts>) => find({ endpoints: [endpointOf(more)] });
const ofRequests = (group: object, now: object = {}) =>
  find({
    received: { now: { ...nothing, queued: 80, ...now }, before: null },
    notQueued: [
      {
        status: 'rejected',
        code: 'signature.mismatch',
        requests: 1,
        addresses: 1,
        firstAt: until,
        lastAt: until,
        exampleIds: [webhookId],
        ...group,
      },
    ],
  });

it('a project about which nothing is noteworthy has no finding', () => {
  expect(
    find({
      endpoints: [endpointOf({ now: sums(1_000, 0) })],
      received: { now: { ...nothing, queued: 90 }, before: { ...nothing, queued: 100 } },
    }),
  ).toEqual([]);
});

describe('failures', () => {
  it.each([
    ['critical', 'fails now, more often than it delivers', { now: sums(1, 3), failingSince: until - hourMs }],
    ['warning', 'failed more often than it delivered, and delivers again', { now: sums(1, 3) }],
    ['warning', 'fails now, and rarely', { now: sums(997, 3), failingSince: until - 60_000 }],
    ['warning', 'has a dead letter', { now: { ...sums(997, 2), deadLettered: 1 } }],
    ['info', 'failed three of a thousand attempts', { now: sums(997, 3) }],
  ] as const)('a failure is %s when an endpoint %s', (severity, _what, more) => {
    expect(ofEndpoint({ ...more, failures: [failure()] })).toMatchObject([
      { kind: 'endpoint_failing', severity },
    ]);
  });

  it('the text names the endpoint without the account and query of its URL, the cause, the change and what to try', () => {
    const failures = [
      failure({ statusCode: null, error: 'connection refused', responseBody: '“bye”\n\u0007now' }),
    ];
    const [finding] = ofEndpoint({
      now: sums(50, 50),
      before: sums(99, 1),
      failures,
      failingSince: until - hourMs,
    });
    expect(finding?.text).toBe(
      'https://shop.example/hooks failed 3 attempts with “connection refused”, from 2026-03-02 11:00 UTC to 2026-03-02 11:59 UTC. ' +
        'Of all its attempts 50 % failed, 1 % in the period before. It has failed since 2026-03-02 11:00 UTC without a delivery. ' +
        'Nothing listens at this address: the server is down, or the port is wrong. Its newest answer began “bye now”.',
    );
  });

  it('each status code and error is a finding of its own, whose id stays while its counts grow', () => {
    const groups = [failure(), failure({ statusCode: 500, error: 'HTTP 500' })];
    const [one, other] = ofEndpoint({ failures: groups });
    expect(one?.id).toMatch(/^endpoint_failing-[0-9a-f]{10}$/);
    expect(one?.id).not.toBe(other?.id);
    const later = ofEndpoint({ failures: [failure({ attempts: 900, lastAt: until })], now: sums(1, 900) });
    expect(later[0]?.id).toBe(one?.id);
  });

  it('a second attempt that nearly always delivers is a finding from five deliveries on', () => {
    const second = (recorded: number, delivered: number) =>
      ofEndpoint({ secondAttempts: { recorded, delivered, exampleIds: [webhookId] } });
    expect(second(5, 5)).toMatchObject([{ kind: 'second_attempt_succeeds', severity: 'info' }]);
    expect([...second(4, 4), ...second(100, 94)]).toEqual([]);
  });
});

describe('backlogs', () => {
  it('an endpoint that the relay disabled is critical, with what is held for it', () => {
    const [disabled, held] = ofEndpoint({
      state: 'disabled_by_relay',
      held: [{ ...waiting, reason: 'disabled', isCapped: true }],
    });
    expect(disabled).toMatchObject({
      kind: 'endpoint_disabled',
      severity: 'critical',
      exampleIds: [webhookId],
    });
    expect(disabled?.text).toContain('At least 3 wait');
    expect(held).toMatchObject({ kind: 'deliveries_held', severity: 'warning' });
    expect(ofEndpoint({ state: 'disabled_by_person' })).toEqual([]);
  });

  it('a pause of less than a day is information, and a turn of an ordering key is noteworthy after an hour', () => {
    const held = (reason: 'paused' | 'order', hours: number) =>
      ofEndpoint({ held: [{ ...waiting, reason, oldestAt: until - hours * hourMs }] }).map(
        ({ severity }) => severity,
      );
    expect(held('paused', 2)).toEqual(['info']);
    expect(held('paused', 25)).toEqual(['warning']);
    expect(held('order', 0.5)).toEqual([]);
    expect(held('order', 2)).toEqual(['warning']);
  });
});

describe('latency', () => {
  it.each([
    ['timeout_near', 'warning', sums(20, 0, 5_000), null],
    ['endpoint_slow', 'info', sums(20, 0, 2_500), null],
    ['endpoint_slow', 'warning', sums(20, 0, 600), sums(20, 0, 300)],
  ])('%s is %s', (kind, severity, now, before) => {
    expect(ofEndpoint({ now, before })).toMatchObject([{ kind, severity }]);
  });

  it.each([
    ['an endpoint with few attempts', sums(19, 0, 9_000), null],
    ['a fast endpoint that became slower', sums(20, 0, 400), sums(20, 0, 20)],
    ['an endpoint that was rarely called before', sums(20, 0, 600), sums(3, 0, 100)],
  ])('%s is not a finding', (_what, now, before) => expect(ofEndpoint({ now, before })).toEqual([]));
});

describe('requests', () => {
  it.each([
    ['critical', { requests: 80 }],
    ['warning', { requests: 10 }],
    ['info', { requests: 1 }],
    ['critical', { requests: 1, status: 'failed_to_queue', code: 'webhook.not_queued' }],
  ])('refused requests are %s by their share: %j', (severity, group) => {
    expect(ofRequests(group)).toMatchObject([{ kind: 'requests_rejected', severity }]);
  });

  it('duplicates are noteworthy from a fifth of the requests on, and conflicts always are', () => {
    expect(ofRequests({ status: 'duplicate', code: null, requests: 19 })).toEqual([]);
    expect(ofRequests({ status: 'duplicate', code: null, requests: 20 })).toMatchObject([
      { kind: 'duplicates', severity: 'info' },
    ]);
    expect(ofRequests({ status: 'duplicate', code: null, requests: 80 })).toMatchObject([
      { severity: 'warning' },
    ]);
    expect(ofRequests({ status: 'conflict', code: 'webhook.conflict' })).toMatchObject([
      { kind: 'conflicts' },
    ]);
  });

  it('a share is of the whole period where more requests came than were read', () => {
    const read = { requests: 5_000, firstAt: until - hourMs };
    expect(
      ofRequests({ status: 'duplicate', code: null, ...read }, { queued: 80_000, duplicate: 19_000 }),
    ).toEqual([]);
    const [duplicates] = ofRequests(
      { status: 'duplicate', code: null, ...read },
      { queued: 80_000, duplicate: 120_000 },
    );
    expect(duplicates).toMatchObject({ kind: 'duplicates', severity: 'warning' });
    expect(duplicates?.text).toContain('60 % of its requests');
    expect(ofRequests(read, { queued: 20_000, rejected: 30_000 })).toMatchObject([{ severity: 'critical' }]);
  });

  it('a rate limit is near from four fifths on, and met when requests were answered 429', () => {
    const busy = (requests: number, more: Partial<ProjectFacts> = {}) =>
      find({ busiestMinute: { at: until - hourMs, requests, exampleIds: [webhookId] }, ...more });
    expect(busy(80)).toMatchObject([
      { kind: 'rate_limit_near', counts: { requestsInMinute: 80, rateLimitPerMinute: 100 } },
    ]);
    expect(busy(79)).toEqual([]);
    expect(busy(500, { rateLimitPerMinute: null })).toEqual([]);
    expect(
      ofRequests({ status: 'rate_limited', code: 'project.rate_limited' }, { rate_limited: 1 }),
    ).toMatchObject([{ kind: 'requests_rate_limited' }]);
  });

  it('an event type that no endpoint takes is graver where the project has no endpoint at all', () => {
    const untaken = {
      groups: [{ eventType: 'order.paid', webhooks: 3, exampleIds: [webhookId] }],
      examined: 9,
    };
    expect(find({ untaken, endpoints: [endpointOf()] })).toMatchObject([
      { kind: 'event_type_untaken', severity: 'info' },
    ]);
    expect(find({ untaken })).toMatchObject([{ severity: 'warning' }]);
  });

  it.each([
    [10, 20, ['warning']],
    [40, 20, ['info']],
    [11, 20, []],
    [9, 18, []],
    [100, 0, []],
  ])('%i webhooks after %i in the period before: %j', (now, before, severities) => {
    const received = { now: { ...nothing, queued: now }, before: { ...nothing, queued: before } };
    expect(find({ received }).map(({ severity }) => severity)).toEqual(severities);
    expect(find({ received: { ...received, before: null } })).toEqual([]);
  });
});

import { readProject, type Project } from '@hqrelay/db/queries/projects';
import { rollUpStatistics } from '@hqrelay/db/queries/roll-up-statistics';
import { startOfBucket } from '@hqrelay/db/queries/stale-statistics';
import type { Finding, FindingKind } from '@hqrelay/domain/insights/finding';
import { seedProject } from '@hqrelay/testing/seed';
import { createWorld } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readInsights } from '../src/read-insights.ts';
import { tellStory, type Story } from './insights-story.ts';

const now = Date.now();
const world = await createWorld(inject('run'));
/** With the privileges of `hqrelay_reader` alone. */
const reader = new pg.Client({ connectionString: world.ownerDatabaseUrl });
let story: Story;
let findings: Finding[];

const read = async (projectId: string, more: object = {}) => {
  const project = (await readProject(world.sql, projectId)) as Project;
  const asked = {
    project,
    since: now - 86_400_000,
    until: now,
    now,
    showsAnswers: true,
    wantsSummary: true,
    ...more,
  };
  return (await readInsights({ reads: world.sql, pool: world.sql, model: null }, asked)).findings;
};
const of = (kind: FindingKind, part = '') =>
  findings.filter((each) => each.kind === kind && each.text.includes(part));

beforeAll(async () => {
  await reader.connect();
  await reader.query('set role hqrelay_reader');
  story = await tellStory(world, now);
  while (await rollUpStatistics(world.sql));
  findings = await read(story.projectId);
});
afterAll(async () => {
  await reader.end();
  await world.close();
});

it('a failing endpoint is named with its status, its share, its answer and what to do', () => {
  const [finding] = of('endpoint_failing', 'https://shop.example/hooks');
  expect(finding).toMatchObject({
    severity: 'critical',
    counts: { failedAttempts: 5, attemptsOfEndpoint: 5, failedAttemptsOfEndpoint: 5, deadLetters: 1 },
  });
  expect(finding?.text).toMatch(
    /failed 5 attempts with HTTP 503, from .* UTC\. Of all its attempts 100 % failed\. It has failed since .* without a delivery\. The server of the endpoint, or one behind it, is down.*Its newest answer began “Down for maintenance/,
  );
  expect(finding?.exampleIds).toHaveLength(3);
});

it.each<[FindingKind, string, Partial<Finding>]>([
  [
    'endpoint_failing',
    'connection reset',
    { severity: 'warning', counts: expect.objectContaining({ failedAttempts: 6, attemptsOfEndpoint: 12 }) },
  ],
  [
    'endpoint_disabled',
    'https://gone.example/hooks answered HTTP 410',
    { severity: 'critical', counts: { held: 2 } },
  ],
  ['dead_letters', '1 deliveries to https://shop.example/hooks', { counts: { deadLetters: 1 } }],
  ['deliveries_held', '2 deliveries to https://gone.example/hooks', { counts: { held: 2 } }],
  [
    'second_attempt_succeeds',
    'https://flaky.example/hooks',
    { counts: { secondAttempts: 6, deliveredBySecondAttempt: 6 } },
  ],
  [
    'timeout_near',
    'Its timeout is 10.0 s',
    { severity: 'warning', counts: expect.objectContaining({ attempts: 25, timeoutMs: 10_000 }) },
  ],
  ['timeout_near', 'It has become slower', {}],
  [
    'requests_rejected',
    'No active secret of the project makes this signature',
    { counts: { requests: 12, addresses: 3, accepted: 54 } },
  ],
  ['conflicts', '“generic” sent 1 requests', {}],
  [
    'duplicates',
    '“generic” sent 15 requests again',
    { counts: { requests: 15, addresses: 0, accepted: 54 } },
  ],
  [
    'rate_limit_near',
    '17 webhooks in the minute',
    { counts: { requestsInMinute: 17, rateLimitPerMinute: 20 } },
  ],
  ['event_type_untaken', "“it's\\un taken”", { counts: { webhooks: 17, examined: 82 } }],
  ['volume_changed', '54 webhooks, and 145 in the period before', { severity: 'warning' }],
])('the insight %s says %s', (kind, part, expected) => {
  expect(of(kind, part)).toEqual([expect.objectContaining(expected)]);
});

it('every kind of the story is found once for each subject, the gravest first', () => {
  expect(findings.map(({ kind }) => kind)).toEqual([
    'endpoint_disabled',
    'endpoint_failing',
    'endpoint_failing',
    'endpoint_failing',
    'dead_letters',
    'deliveries_held',
    'timeout_near',
    'requests_rejected',
    'conflicts',
    'rate_limit_near',
    'volume_changed',
    'second_attempt_succeeds',
    'duplicates',
    'event_type_untaken',
  ]);
  expect(new Set(findings.map(({ id }) => id)).size).toBe(findings.length);
});

it('the SQL of each finding returns its examples to hqrelay_reader', async () => {
  for (const { sql, exampleIds, kind } of findings) {
    const { rows } = await reader.query<{ webhook_log_id: string }>(sql);
    const returned = new Set(rows.map((row) => row.webhook_log_id));
    const missing = exampleIds.filter((id) => !returned.has(id));
    expect({ kind, isEmpty: exampleIds.length === 0, missing }).toEqual({
      kind,
      isEmpty: false,
      missing: [],
    });
  }
});

it('no text and no count has the query of a URL, and without answers none has what endpoints answered', async () => {
  expect(JSON.stringify(findings)).not.toContain('hunter2');
  const hidden = await read(story.projectId, { showsAnswers: false });
  expect(JSON.stringify(hidden)).not.toContain('maintenance');
  expect(hidden.map(({ id }) => id)).toEqual(findings.map(({ id }) => id));
});

it('ids and counts are the same whether a worker has counted the last hours or they are read from rows', async () => {
  const counted = new Date(startOfBucket(now - 20 * 3_600_000));
  await world.sql.query('update statistics_progress set counted_to = $1', [counted]);
  const fromRows = await read(story.projectId);
  expect(fromRows.map(({ id, counts }) => [id, counts])).toEqual(
    findings.map(({ id, counts }) => [id, counts]),
  );
});

it('a project without webhooks has no finding, and another project is not looked at', async () => {
  const { id } = await seedProject(world);
  expect(await read(id)).toEqual([]);
});

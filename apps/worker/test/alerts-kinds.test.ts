import { markNearLimit } from '@hqrelay/cache/near-limit';
import { disableEndpoint } from '@hqrelay/db/queries/disable-endpoint';
import type { AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { newId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { seedEndpoint } from '@hqrelay/testing/seed';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { minuteMs, openAlertsWorld } from './alerts-world.ts';

const world = await openAlertsWorld();
const { sql, clock, mail } = world;
const hourMs = 60 * minuteMs;

beforeEach(() => {
  clock.aheadMs = 0;
});
afterEach(async () => {
  await sql.query('delete from alert_sendings; update alert_rules set removed_at = now()');
  if (world.warnings.length > 0) throw new Error(JSON.stringify(world.warnings));
});

async function open(...kinds: AlertKind[]) {
  const rule = await world.addRule(kinds);
  const { id: endpointId } = await seedEndpoint(world, rule.projectId, { url: 'https://shop.example/hooks' });
  const told = async () =>
    (await world.messages(rule.ruleId)).map(({ type, state, count }) => `${type} ${state} ${count}`);
  return { ...rule, endpointId, told };
}

const ago = (ms: number) => world.now() - ms;

type Open = Awaited<ReturnType<typeof open>>;

/** First attempts, each of a webhook of its own, at these times ago. */
async function attempt({ projectId, endpointId }: Open, agoMs: number, more: object = {}): Promise<void> {
  const webhookLogId = newId(ago(agoMs));
  await recordAttempt(sql, { id: newId(ago(agoMs)), projectId, endpointId, webhookLogId, ...more });
}

async function addDeadLetters({ projectId, endpointId }: Open, count: number): Promise<void> {
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     select gen_random_uuid(), 'delivery', 'schedule used up', $1, gen_random_uuid(), $2, $4::timestamptz + n * interval '1 microsecond'
     from generate_series(1, $3) as n`,
    [projectId, endpointId, count, new Date(world.now())],
  );
}

describe('dead_letter', () => {
  it('twenty thousand dead letters are one e-mail, and their replay is told', async () => {
    const rule = await open('dead_letter');
    await addDeadLetters(rule, 1);
    await attempt(rule, 1_000, { status: 'dead_lettered', error: 'HTTP 503 <b>', nextAttemptAt: null });
    await world.evaluate();
    expect(await rule.told()).toEqual([]);
    await addDeadLetters(rule, 19_999);
    clock.aheadMs += 31_000;
    for (let evaluations = 0; evaluations < 5; evaluations += 1) await world.evaluate();
    await world.send();
    expect(await rule.told()).toEqual(['dead_letter firing 20000']);
    const received = mail.mails.filter(({ raw }) => raw.includes(rule.ruleId));
    expect(received).toHaveLength(1);
    expect(received[0]?.headers['subject']).toMatch(/20,000 dead letters$/);
    expect(received[0]?.text).toContain('HTTP 503 <b>');
    expect(received[0]?.html).toContain('HTTP 503 &lt;b&gt;');
    expect(received[0]?.html).not.toContain('<b>');
    expect(received[0]?.text).toContain('endpoint       https://shop.example/hooks');

    await sql.query('update dead_letters set replayed_at = now() where project_id = $1', [rule.projectId]);
    await world.evaluate();
    expect(await rule.told()).toEqual(['dead_letter firing 20000', 'dead_letter recovered 20000']);
  });

  it('dead letters from before the rule are not told', async () => {
    const rule = await open('dead_letter');
    clock.aheadMs = -hourMs;
    await addDeadLetters(rule, 3);
    clock.aheadMs = 0;
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });

  it('several workers that evaluate at once make one message', async () => {
    const rule = await open('dead_letter');
    await addDeadLetters(rule, 2);
    await world.evaluate();
    clock.aheadMs += 31_000;
    await Promise.all(Array.from({ length: 4 }, () => world.evaluate()));
    expect(await rule.told()).toEqual(['dead_letter firing 2']);
  });
});

async function openBreaker({ endpointId }: Open, openedAgoMs: number): Promise<void> {
  await sql.query(
    `insert into endpoint_breakers (endpoint_id, state, failures, failing_since, opened_at, probe_at, interval_ms, updated_at)
     values ($1, 'half_open', 42, $2, $3, $3, 5000, now())
     on conflict (endpoint_id) do update set opened_at = excluded.opened_at`,
    [endpointId, new Date(ago(openedAgoMs + 20_000)), new Date(ago(openedAgoMs))],
  );
}

const closeBreaker = ({ endpointId }: Open) =>
  sql.query('delete from endpoint_breakers where endpoint_id = $1', [endpointId]);

describe('endpoint_failing', () => {
  it('a breaker that has been open for five minutes is told, and that it closed', async () => {
    const rule = await open('endpoint_failing', 'endpoint_recovered');
    await openBreaker(rule, 4 * minuteMs);
    await world.settle();
    expect(await rule.told()).toEqual([]);
    clock.aheadMs += minuteMs;
    await world.settle();
    expect(await rule.told()).toEqual(['endpoint_failing firing 42']);
    await closeBreaker(rule);
    await world.evaluate();
    expect(await rule.told()).toEqual(['endpoint_failing firing 42', 'endpoint_failing recovered 42']);
  });

  it('a rule about recoveries alone tells the recovery alone', async () => {
    const rule = await open('endpoint_recovered');
    await openBreaker(rule, 10 * minuteMs);
    await world.settle();
    await closeBreaker(rule);
    await world.evaluate();
    expect(await rule.told()).toEqual(['endpoint_recovered recovered 42']);
  });

  it('a pause by a person raises nothing, and no recovery either', async () => {
    const rule = await open('endpoint_failing');
    await openBreaker(rule, 10 * minuteMs);
    await sql.query('update endpoints set paused = true where id = $1', [rule.endpointId]);
    await world.settle();
    expect(await rule.told()).toEqual([]);
    await sql.query('update endpoints set paused = false where id = $1', [rule.endpointId]);
    await world.settle();
    await sql.query('update endpoints set paused = true where id = $1', [rule.endpointId]);
    await closeBreaker(rule);
    await world.settle();
    expect(await rule.told()).toEqual(['endpoint_failing firing 42']);
  });

  it('an endpoint that is too quiet for a breaker is told when its last three first attempts failed', async () => {
    const rule = await open('endpoint_failing');
    await attempt(rule, 3 * hourMs, {
      status: 'delivered',
      error: null,
      statusCode: 200,
      nextAttemptAt: null,
    });
    await attempt(rule, 2 * hourMs);
    await attempt(rule, hourMs);
    await world.settle();
    expect(await rule.told()).toEqual([]);
    await attempt(rule, minuteMs, { error: 'connection refused', statusCode: null });
    await world.settle();
    expect(await rule.told()).toEqual(['endpoint_failing firing 3']);
    expect((await world.messages(rule.ruleId))[0]?.reason).toBe('connection refused');
    await attempt(rule, 0, { attemptNum: 2, status: 'delivered', error: null, nextAttemptAt: null });
    await world.evaluate();
    expect(await rule.told()).toEqual(['endpoint_failing firing 3', 'endpoint_failing recovered 3']);
  });

  it('a delivery after the third failure before last keeps a quiet endpoint from being told', async () => {
    const rule = await open('endpoint_failing');
    for (const hours of [4, 3, 1]) await attempt(rule, hours * hourMs);
    await attempt(rule, 2 * hourMs, { attemptNum: 2, status: 'delivered', error: null, nextAttemptAt: null });
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });

  it('retries of one webhook are not three first attempts', async () => {
    const rule = await open('endpoint_failing');
    for (const attemptNum of [1, 2, 3, 4]) await attempt(rule, hourMs / attemptNum, { attemptNum });
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });

  it.each([
    'too many open files on the relay',
    'name server did not answer',
    'the egress proxy is unavailable',
  ])('the relay’s own fault (%s) is not told as a failing endpoint', async (error) => {
    const rule = await open('endpoint_failing');
    for (const hours of [3, 2, 1]) await attempt(rule, hours * hourMs, { error, statusCode: null });
    await openBreaker(rule, 10 * minuteMs);
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });
});

describe('endpoint_disabled', () => {
  it('a 410 is told with its reason, and that a person enabled the endpoint', async () => {
    const rule = await open('endpoint_disabled');
    await disableEndpoint(sql, rule.endpointId, 'HTTP 410', world.now());
    await world.settle();
    expect(await rule.told()).toEqual(['endpoint_disabled firing 1']);
    await sql.query(
      'update endpoints set enabled = true, disabled_by = null, disabled_reason = null where id = $1',
      [rule.endpointId],
    );
    await world.evaluate();
    expect(await rule.told()).toEqual(['endpoint_disabled firing 1', 'endpoint_disabled recovered 1']);
  });

  it('an endpoint that a person disabled is not told', async () => {
    const rule = await open('endpoint_disabled', 'endpoint_failing');
    await sql.query(`update endpoints set enabled = false, disabled_by = 'person' where id = $1`, [
      rule.endpointId,
    ]);
    await openBreaker(rule, 10 * minuteMs);
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });
});

describe('signature_rejections', () => {
  const reject = async (projectId: string, count: number, reason = 'signature.mismatch') => {
    for (let n = 0; n < count; n += 1) {
      await recordWebhook(sql, { projectId, status: 'rejected', reason, id: newId(ago(1_000)) }, null);
    }
  };

  it('a jump is told until few are rejected', async () => {
    const rule = await open('signature_rejections');
    await reject(rule.projectId, 4);
    await world.settle();
    expect(await rule.told()).toEqual([]);
    await reject(rule.projectId, 2);
    await world.settle();
    expect(await rule.told()).toEqual(['signature_rejections firing 6']);
    expect((await world.messages(rule.ruleId))[0]?.reason).toBe('signature.mismatch');
    clock.aheadMs += 31 * minuteMs;
    await world.evaluate();
    expect((await rule.told()).at(-1)).toBe('signature_rejections recovered 6');
  });

  it('as many as on the day before are no jump, nor are rejections for another reason', async () => {
    const rule = await open('signature_rejections');
    await sql.query(
      `insert into received_statistics (project_id, bucket_at, status, requests)
       select $1, date_bin('30 minutes', now(), timestamptz '2000-01-01Z') - n * interval '30 minutes', 'rejected', 5
       from generate_series(2, 50) as n`,
      [rule.projectId],
    );
    await reject(rule.projectId, 10);
    await reject(rule.projectId, 30, 'body.too_large');
    await world.settle();
    expect(await rule.told()).toEqual([]);
  });
});

it('rate_limit_near: a project that is marked is told, and that its mark went', async () => {
  const rule = await open('rate_limit_near');
  await sql.query('update projects set rate_limit_per_minute = 100 where id = $1', [rule.projectId]);
  await markNearLimit(world.deps.cache.redis, rule.projectId);
  await world.settle();
  expect(await rule.told()).toEqual(['rate_limit_near firing 0']);
  expect((await world.messages(rule.ruleId))[0]?.reason).toContain('80 % of 100 a minute');
  await world.deps.cache.redis.zrem('hqrelay:nearLimit', rule.projectId);
  await world.evaluate();
  expect((await rule.told()).at(-1)).toBe('rate_limit_near recovered 0');
});

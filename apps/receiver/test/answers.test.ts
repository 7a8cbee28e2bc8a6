import { randomUUID } from 'node:crypto';
import { genericTimestampScheme } from '@hqrelay/domain/providers/generic';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook, signAsProvider, signInbound } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld();

describe('a signed webhook', () => {
  it('a signed webhook is answered 202 with its id after its row and its payload are stored', async () => {
    const project = await seedProject(world);
    const answer = await postWebhook(world.url, project, { webhookId: 'evt_1' });

    expect(answer.statusCode).toBe(202);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      status: 'queued',
    });
    const rows = await world.logsOf(project.id);
    expect(rows).toMatchObject([
      { id: answer.body.id, status: 'queued', webhook_id: 'evt_1', event_type: 'payment.captured' },
    ]);
    expect((await world.payloadOf(rows[0]!.id))?.payload.toString()).toBe('{"event":"payment.captured"}');
  });

  it('a webhook that is sent again gets the same answer, and its row names the first webhook', async () => {
    const project = await seedProject(world);
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1' });
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1' });

    expect(again.statusCode).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const [duplicate] = await world.waitForLogs(project.id, 'duplicate');
    expect(duplicate?.duplicate_of).toBe(first.body.id);
    expect(duplicate?.id).not.toBe(first.body.id);
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
    expect(await world.payloadOf(duplicate!.id)).toBeUndefined();
  });

  it('a webhook with the id of a webhook of another project is accepted as a new webhook', async () => {
    const [one, other] = await Promise.all([seedProject(world), seedProject(world)]);
    const first = await postWebhook(world.url, one, { webhookId: 'evt_1' });
    const second = await postWebhook(world.url, other, { webhookId: 'evt_1' });
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('a webhook with an accepted id and another body is a conflict, and its bytes are stored', async () => {
    const project = await seedProject(world);
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":1}' });
    const other = await postWebhook(world.url, project, {
      webhookId: 'evt_1',
      body: '{"amount":2}',
      headers: { authorization: 'Bearer s3cret' },
    });

    expect(other.statusCode).toBe(409);
    expect(other.body.error?.code).toBe('webhook.conflict');
    const [conflict] = await world.waitForLogs(project.id, 'conflict');
    expect(conflict?.duplicate_of).toBe(first.body.id);
    const payload = await world.payloadOf(conflict!.id);
    expect(payload?.payload.toString()).toBe('{"amount":2}');
    expect(JSON.stringify(payload?.headers)).not.toContain('s3cret');
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
    const replayed = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":1}' });
    expect(replayed.text).toBe(first.text);
  });

  it('the bytes of a conflict are stored once for each id and body', async () => {
    const project = await seedProject(world);
    const conflictWith = (webhookId: string, body: string) =>
      postWebhook(world.url, project, { webhookId, body });
    for (const webhookId of ['evt_1', 'evt_2']) await conflictWith(webhookId, '{"amount":1}');
    for (const amount of [2, 2, 3, 2]) await conflictWith('evt_1', `{"amount":${amount}}`);
    await conflictWith('evt_2', '{"amount":2}');
    const rows = await world.waitForLogs(project.id, 'conflict', 5);
    const payloads = await Promise.all(rows.map(({ id }) => world.payloadOf(id)));
    expect(payloads.map((row) => row?.payload.toString())).toEqual([
      '{"amount":2}',
      undefined,
      '{"amount":3}',
      undefined,
      '{"amount":2}',
    ]);
  });

  it('a webhook with an accepted id and another body is a duplicate with on_conflict duplicate', async () => {
    const project = await seedProject(world, { onConflict: 'duplicate' });
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":1}' });
    const other = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":1.0}' });
    expect(other.statusCode).toBe(202);
    expect(other.text).toBe(first.text);
    expect(other.headers.get('idempotent-replayed')).toBe('true');
    await world.waitForLogs(project.id, 'duplicate');
  });

  it('a webhook is accepted when its URL has the project id in upper case', async () => {
    const project = await seedProject(world);
    const answer = await postWebhook(world.url, { ...project, id: project.id.toUpperCase() });
    expect(answer.statusCode).toBe(202);
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });

  it('a webhook with an empty body is accepted, unless it is declared to be JSON', async () => {
    const project = await seedProject(world);
    const headers = Object.entries(signAsProvider(project, Buffer.alloc(0))).flat();
    const plain = await sendRaw(world.webhooksUrl(project.id), { headers });
    expect(plain.statusCode).toBe(202);
    const [row] = await world.logsOf(project.id, 'queued');
    expect(row).toMatchObject({ payload_bytes: 0, event_type: null });
    expect((await world.payloadOf(row!.id))?.payload).toHaveLength(0);

    const json = await sendRaw(world.webhooksUrl(project.id), {
      headers: [...headers, 'Content-Type', 'application/json'],
    });
    expect(json.statusCode).toBe(400);
  });

  it('a signed webhook raises last_received_at of its project and last_verified_at of its secret', async () => {
    const project = await seedProject(world);
    const sentAt = Date.now();
    await postWebhook(world.url, project);
    const { received, verified } = await world.waitForRow<{ received: Date; verified: Date }>(
      `select p.last_received_at as received, s.last_verified_at as verified
       from projects p join project_secrets s on s.project_id = p.id where p.id = $1 and s.last_verified_at is not null`,
      [project.id],
    );
    expect(received.getTime()).toBeGreaterThanOrEqual(sentAt);
    expect(verified).toEqual(received);
  });
});

describe('a webhook whose sender is not verified', () => {
  it('a wrong signature, an unknown project and a disabled project get the same answer', async () => {
    const [project, timestamped, disabled] = await Promise.all([
      seedProject(world),
      seedProject(world, { requireTimestamp: true }),
      seedProject(world),
    ]);
    await world.sql.query('update projects set enabled = false where id = $1', [disabled.id]);
    const body = Buffer.from('{"event":"payment.captured"}');
    const changed = Buffer.from('{"event":"payment.captureD"}');
    const signature = signAsProvider(project, body);
    const { 'x-hub-signature-256': withoutTimestamp } = signAsProvider(timestamped, body);

    const answers = await Promise.all([
      post(project.id, {}, body),
      post(project.id, { 'X-Hub-Signature-256': '' }, body),
      post(project.id, signature, changed),
      post(randomUUID(), {}, body),
      post(randomUUID(), signature, body),
      post(freshId(), signature, body),
      post(disabled.id, {}, body),
      post(disabled.id, signAsProvider(disabled, body), body),
      post(timestamped.id, {}, body),
      post(timestamped.id, { 'X-Hub-Signature-256': withoutTimestamp! }, body),
      post(timestamped.id, { 'X-Hub-Signature-256': withoutTimestamp!, 'X-Webhook-Timestamp': 'soon' }, body),
      post(timestamped.id, signAsProvider({ ...timestamped, requireTimestamp: false }, body), body),
    ]);
    const seen = answers.map(({ statusCode, headers, text }) => {
      const { date: _date, 'x-correlation-id': _correlationId, ...others } = headers;
      return JSON.stringify([statusCode, others, text]);
    });
    expect(new Set(seen)).toEqual(new Set([seen[0]]));
    expect(answers[0].statusCode).toBe(401);
    expect(JSON.parse(answers[0].text)).toMatchObject({ error: { code: 'signature.invalid' } });
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(0);
    expect(await world.logsOf(disabled.id, 'queued')).toHaveLength(0);
    const [refused] = await world.waitForLogs(project.id, 'rejected', 3);
    expect(await world.payloadOf(refused!.id)).toBeUndefined();
  });

  it('an unverified webhook touches no idempotency key and no rate limit', async () => {
    const project = await seedProject(world, { rateLimitPerMinute: 1 });
    const body = Buffer.from('{}');
    await post(project.id, { 'X-Webhook-Id': 'evt_1' }, body);
    await post(
      project.id,
      { 'X-Webhook-Id': 'evt_1', ...signAsProvider({ ...project, secret: 'x' }, body) },
      body,
    );
    const keys = await world.redis.keys(`hqrelay:*{${project.id}}*`);
    expect(keys.filter((key) => !key.startsWith('hqrelay:projectConfig:'))).toEqual([]);
    expect((await postWebhook(world.url, project, { webhookId: 'evt_1' })).statusCode).toBe(202);
  });

  it('unverified webhooks leave a bounded number of rows, without a payload', async () => {
    const project = await seedProject(world);
    const startedAt = performance.now();
    for (let i = 0; i < 10; i += 1) {
      await Promise.all(Array.from({ length: 60 }, () => post(project.id, {}, Buffer.from(`{"n":${i}}`))));
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    await postWebhook(world.url, project);
    await world.waitForLogs(project.id, 'queued');

    const lines = world.logs.filter((line) => line.projectId === project.id && line.outcome === 'rejected');
    expect(lines.length).toBeGreaterThanOrEqual(50);
    expect(lines.length).toBeLessThanOrEqual(50 + 5 * (seconds + 1));
    const rejected = await world.waitForLogs(project.id, 'rejected', lines.length);
    expect(rejected).toHaveLength(lines.length);
    const { rows } = await world.sql.query('select id from webhook_payloads where id = any($1)', [
      rejected.map((row) => row.id),
    ]);
    expect(rows).toEqual([]);
  });
});

it('a flood of rejected requests leaves room for the rejections of other projects, in the rows and in the log', async () => {
  const [flooded, other] = await Promise.all([seedProject(world), seedProject(world)]);
  for (let i = 0; i < 5; i += 1) {
    await Promise.all(Array.from({ length: 60 }, () => post(flooded.id, {}, Buffer.from('{}'))));
    await Promise.all(Array.from({ length: 60 }, () => post(randomUUID(), {}, Buffer.from('{}'))));
  }
  await post(other.id, {}, Buffer.from('{}'));
  expect(await world.waitForLogs(other.id, 'rejected', 1)).toHaveLength(1);
  expect(world.logs.filter((line) => line.projectId === other.id)).toHaveLength(1);
});

describe('a request that cannot be a webhook', () => {
  const body = Buffer.from('{"event":"payment.captured"}');

  it.each([
    ['no project id', '/v1/webhooks', 'project.missing'],
    ['no project id, and a slash', '/v1/webhooks/', 'project.missing'],
    ['a project id that is not a UUID', '/v1/webhooks/acme', 'project.invalid_id'],
    ['a project id that is nearly a UUID', `/v1/webhooks/${randomUUID()}0`, 'project.invalid_id'],
    ['a URL that cannot be decoded', '/v1/webhooks/%E0%A4%A', 'request.malformed'],
  ])('a request with %s is answered 400', async (_name, path, code) => {
    const answer = await sendRaw(`${world.url}${path}`, { body });
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({ error: { code, message: expect.any(String) } });
  });

  it.each([
    ['without its prefix', 'a'.repeat(64)],
    ['too short', 'sha256=abcd'],
    ['not hex', `sha256=${'z'.repeat(64)}`],
    ['of another algorithm', `sha1=${'a'.repeat(40)}`],
    ['given twice', `sha256=${'a'.repeat(64)}, sha256=${'a'.repeat(64)}`],
  ])('a request with a malformed signature header is answered 400: %s', async (_name, signature) => {
    const project = await seedProject(world);
    const headers = { 'X-Hub-Signature-256': signature };
    const [answer, forUnknown] = await Promise.all([
      post(project.id, headers, body),
      post(randomUUID(), headers, body),
    ]);
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'signature.malformed' } });
    expect(forUnknown.text).toBe(answer.text);
  });

  it.each([
    ['before', -310],
    ['after', 310],
  ])('a signed timestamp more than five minutes %s now is answered 400', async (_name, seconds) => {
    const project = await seedProject(world, { requireTimestamp: true });
    const now = Date.now() + seconds * 1_000;
    const signed = signInbound(genericTimestampScheme, project.secret, { body, now });
    const answer = await post(project.id, signed, body);
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'timestamp.stale' } });
    expect((await postWebhook(world.url, project, { body })).statusCode).toBe(202);
  });

  it('a signed body that is declared as JSON and does not parse is answered 400', async () => {
    const project = await seedProject(world);
    const broken = '{"event":';
    for (const contentType of ['application/json', 'application/vnd.api+json; charset=utf-8']) {
      const answer = await postWebhook(world.url, project, {
        body: broken,
        headers: { 'content-type': contentType },
      });
      expect(answer.statusCode).toBe(400);
      expect(answer.body.error?.code).toBe('body.not_json');
    }
    const unsigned = await post(project.id, { 'Content-Type': 'application/json' }, Buffer.from(broken));
    expect(unsigned.statusCode).toBe(401);
    const text = await postWebhook(world.url, project, {
      body: broken,
      headers: { 'content-type': 'text/plain' },
    });
    expect(text.statusCode).toBe(202);
  });
});

function post(projectId: string, headers: Record<string, string>, body: Buffer) {
  return sendRaw(world.webhooksUrl(projectId), { headers: Object.entries(headers).flat(), body });
}

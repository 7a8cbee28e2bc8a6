import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { describe, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { get, post, patch, remove, createProject, sql, secretsKey } = await openConsoleWorld();

async function addAlert(body: object = {}) {
  const projectId = await createProject();
  const path = `/api/v1/projects/${projectId}/alerts`;
  const answer = await post(path, { on: ['dead_letter'], email: 'ops@shop.example', ...body });
  return { projectId, path, answer };
}

describe('the alerts of a project', () => {
  it('a rule is added, listed, changed, snoozed and removed, each with its row of admin_log', async () => {
    const { projectId, path, answer } = await addAlert();
    expect(answer.statusCode).toBe(201);
    expect(answer.body).not.toHaveProperty('signingSecret');
    const { id } = answer.body.alert as { id: string };
    expect((await get(path)).body.items).toMatchObject([
      {
        id,
        on: ['dead_letter'],
        channel: 'email',
        target: 'ops@shop.example',
        windowSeconds: 900,
        isBroken: false,
      },
    ]);
    const changed = await patch(`${path}/${id}`, {
      on: ['endpoint_failing', 'dead_letter'],
      windowSeconds: 60,
    });
    expect(changed.body).toMatchObject({ on: ['endpoint_failing', 'dead_letter'], windowSeconds: 60 });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await post(`${path}/${id}/snooze`, { until })).body.snoozedUntil).toBe(until);
    expect((await post(`${path}/${id}/snooze`, { until: null })).body.snoozedUntil).toBeNull();
    expect((await remove(`${path}/${id}`)).statusCode).toBe(200);
    expect((await get(path)).body.items).toEqual([]);
    expect((await patch(`${path}/${id}`, { windowSeconds: 60 })).statusCode).toBe(404);
    const { rows } = await sql.query<{ action: string }>(
      `select action from admin_log where project_id = $1 and action like 'alert.%' order by created_at, id`,
      [projectId],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'alert.add',
      'alert.update',
      'alert.snooze',
      'alert.snooze',
      'alert.remove',
    ]);
  });

  it('the secret of a callback is shown once, and no URL shows a secret', async () => {
    const { path, answer } = await addAlert({
      email: undefined,
      webhook: 'https://shop.example/alerts?token=s3cret',
    });
    expect(answer.body.signingSecret).toMatch(/^whsec_/);
    expect(answer.body.alert.target).toBe('https://shop.example/alerts?token=***');
    expect(JSON.stringify((await get(path)).body)).not.toMatch(/s3cret|whsec_/);
    const slack = await post(path, { on: ['dead_letter'], slack: 'https://hooks.slack.com/services/T/B/x' });
    expect(slack.body.alert.target).toBe('https://hooks.slack.com/***');
    expect(slack.body).not.toHaveProperty('signingSecret');
  });

  it.each([
    ['two channels', { slack: 'https://hooks.slack.com/services/T/B/x' }],
    ['no channel', { email: undefined }],
    ['no kind', { on: [] }],
    ['an unknown kind', { on: ['dead_letters'] }],
    ['two addresses', { email: 'a@example.com,b@example.com' }],
    ['a line break in an address', { email: 'a@example.com\r\nBcc: b@example.com' }],
    ['a metadata address', { email: undefined, webhook: 'http://169.254.169.254/latest' }],
    ['a short window', { windowSeconds: 1 }],
  ])('a rule with %s is refused', async (_what, body) => {
    expect((await addAlert(body)).answer.statusCode).toBe(400);
  });

  it('a rule with a new address is broken no more, keeps its signing secret, and shows no secret of the address', async () => {
    const { path, answer } = await addAlert({
      email: undefined,
      webhook: 'https://shop.example/old?token=s3cret',
    });
    const { id } = answer.body.alert as { id: string };
    const channelOf = async () => {
      const { rows } = await sql.query<{ sealed: string; keyId: string }>(
        'select sealed_channel as sealed, channel_key_id as "keyId" from alert_rules where id = $1',
        [id],
      );
      return JSON.parse(open(parseSecretKeys(secretsKey), rows[0]!, `alert_rules:${id}`)) as object;
    };
    await sql.query(
      "update alert_rules set failures = 3, failing_since = now(), last_error = 'HTTP 410' where id = $1",
      [id],
    );
    const moved = await patch(`${path}/${id}`, { webhook: 'https://shop.example/new?token=s3cret2' });
    expect(moved).toMatchObject({
      statusCode: 200,
      body: {
        target: 'https://shop.example/new?token=***',
        isBroken: false,
        failingSince: null,
        lastError: null,
        on: ['dead_letter'],
      },
    });
    const { signingSecret } = answer.body as { signingSecret: string };
    expect(await channelOf()).toEqual({ url: 'https://shop.example/new?token=s3cret2', signingSecret });
    const { rows } = await sql.query(
      "select details from admin_log where target = $1 and action = 'alert.update'",
      [id],
    );
    expect(rows).toMatchObject([{ details: { hasNewAddress: true } }]);
    expect(JSON.stringify(rows)).not.toContain('s3cret');
  });

  it.each([
    ['of another channel', { email: 'ops@shop.example' }],
    ['that is forbidden', { webhook: 'http://169.254.169.254/latest' }],
    ['of two channels', { webhook: 'https://shop.example/', email: 'ops@shop.example' }],
  ])('a new address %s is refused, and the rule stays as it was', async (_what, body) => {
    const { path, answer } = await addAlert({ email: undefined, webhook: 'https://shop.example/alerts' });
    const { id } = answer.body.alert as { id: string };
    expect(await patch(`${path}/${id}`, body)).toMatchObject({ statusCode: 400 });
    expect((await get(path)).body.items).toMatchObject([{ target: 'https://shop.example/alerts' }]);
  });

  it('a test is a message that waits for a worker, and shows its tries', async () => {
    const { path, answer } = await addAlert();
    const { id } = answer.body.alert as { id: string };
    const tested = await post(`${path}/${id}/test`);
    expect(tested.statusCode).toBe(202);
    const { messageId } = tested.body as { messageId: string };
    await sql.query(
      `insert into alert_attempts (message_id, attempt_num, status, answer, latency_ms, attempted_at) values ($1, 1, 'failed', '550 no', 5, now())`,
      [messageId],
    );
    const { items } = (await get(`${path}/messages?alertId=${id}`)).body as { items: object[] };
    expect(items).toMatchObject([
      {
        id: messageId,
        alertId: id,
        type: 'test',
        state: 'firing',
        status: 'waiting',
        attempts: [{ attemptNum: 1, status: 'failed', answer: '550 no' }],
      },
    ]);
  });
});

import { testAlert } from '@hqrelay/actions/alert/test-alert';
import { removeAlert } from '@hqrelay/actions/alert/change-alert';
import { claimDueMessages, readAlertMessage } from '@hqrelay/db/queries/alert-messages';
import { listAlertRules } from '@hqrelay/db/queries/alert-rules';
import { claimMs } from '@hqrelay/domain/alerts/sending-schedule';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sendAlerts } from '../src/jobs/send-alerts.ts';
import { openAlertsWorld } from './alerts-world.ts';

const world = await openAlertsWorld();
const { sql, mail, clock } = world;

beforeEach(() => mail.answerWith('accept'));
afterEach(async () => {
  await sql.query('delete from alert_sendings; update alert_rules set removed_at = now()');
});

async function makeTest(alertId: string): Promise<string> {
  const made = await testAlert({ pool: sql, actor: 'cli:test' }, { alertId, now: world.now() });
  if (made.kind === 'refused') throw new Error(made.message);
  return made.value.messageId;
}

const message = async (id: string) => (await readAlertMessage(sql, id))!;

describe('the sending of alerts', () => {
  it('a mail counts as sent when the server answered 250, and its try is a row', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const id = await makeTest(ruleId);
    expect((await message(id)).status).toBe('waiting');
    const before = mail.mails.length;
    expect(await world.send()).toBe(1);
    expect(mail.mails.length).toBe(before + 1);
    expect(mail.mails.at(-1)?.headers['message-id']).toBe(`<${id}@relay.example>`);
    expect(await message(id)).toMatchObject({
      status: 'sent',
      attempts: [{ attemptNum: 1, status: 'sent', answer: '250 2.0.0 queued by the test' }],
    });
    expect(await world.send()).toBe(0);
  });

  it.each(['refuse', 'defer', 'drop', 'drop-in-data'] as const)(
    'a mail to a server that answers with %s is tried again until it is taken',
    async (how) => {
      const { ruleId } = await world.addRule(['dead_letter']);
      const id = await makeTest(ruleId);
      mail.answerWith(how);
      expect(await world.send()).toBe(0);
      expect(await world.send()).toBe(0);
      expect((await message(id)).attempts).toHaveLength(1);
      mail.answerWith('accept');
      clock.aheadMs += 10_001;
      expect(await world.send()).toBe(1);
      const { status, attempts } = await message(id);
      expect([status, attempts.map((each) => each.status)]).toEqual(['sent', ['sent', 'failed']]);
    },
  );

  it('a callback is signed as Standard Webhooks asks, with the id of its message in every try', async () => {
    const endpoint = await startRecordingEndpoint();
    onTestFinished(() => endpoint.close());
    endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 503 : 204 }));
    const rule = await world.addRule(['dead_letter'], {
      channel: 'webhook',
      target: `${endpoint.url}?token=s3cret`,
    });
    const id = await makeTest(rule.ruleId);
    expect(await world.send()).toBe(0);
    clock.aheadMs += 10_001;
    expect(await world.send()).toBe(1);
    expect(endpoint.requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    const [request] = endpoint.requests;
    const headers = request!.headers as Record<string, string>;
    const verified = new Webhook(rule.signingSecret as string).verify(request!.body, headers);
    expect(verified).toEqual({
      type: 'test',
      state: 'firing',
      projectId: rule.projectId,
      endpointId: null,
      count: 1,
      reason: 'asked for by cli:test',
      url: `https://relay.example/projects/${rule.projectId}`,
    });
    const [failed, sent] = (await message(id)).attempts.toReversed();
    expect([failed?.answer, sent?.answer]).toEqual(['HTTP 503', 'HTTP 204']);
    const { rows } = await sql.query('select * from alert_rules where id = $1', [rule.ruleId]);
    expect(JSON.stringify(rows)).not.toMatch(/s3cret|whsec_/);
  });

  it('a callback to a forbidden address is not sent', async () => {
    const { ruleId } = await world.addRule(['dead_letter'], {
      channel: 'webhook',
      target: 'https://metadata.example/',
    });
    const id = await makeTest(ruleId);
    const sender = {
      ...world.deps.sender,
      send: () =>
        Promise.resolve({
          kind: 'error' as const,
          phase: 'policy' as const,
          code: 'FORBIDDEN_ADDRESS',
          message: '169.254.169.254, which is a metadata address',
          latencyMs: 1,
        }),
    };
    await sendAlerts({ ...world.deps, sender });
    expect((await message(id)).attempts[0]?.answer).toContain('not allowed: 169.254.169.254');
  });

  it('a message in Slack is text alone, and its URL stands nowhere in clear', async () => {
    const endpoint = await startRecordingEndpoint();
    onTestFinished(() => endpoint.close());
    const target = endpoint.url.replace('/hook', '/services/T0/B0/s3cretpath');
    const { ruleId } = await world.addRule(['dead_letter'], { channel: 'slack', target });
    await makeTest(ruleId);
    expect(await world.send()).toBe(1);
    expect(endpoint.requests[0]?.path).toBe('/services/T0/B0/s3cretpath');
    expect(Object.keys(JSON.parse(String(endpoint.requests[0]?.body)) as object)).toEqual(['text']);
    const { rows } = await sql.query(
      `select r::text as text from alert_rules r union all select l::text from admin_log l`,
    );
    expect(JSON.stringify(rows)).not.toContain('s3cretpath');
  });

  it('a worker that crashes between a send and its row makes the message arrive twice and not more', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const id = await makeTest(ruleId);
    const [claimed] = await claimDueMessages(sql, { now: world.now(), claimMs, limit: 20 });
    await world.deps.mailer.send({ id, to: 'ops@shop.example', subject: 's', text: 't', html: 'h' });
    expect(claimed?.attemptNum).toBe(1);
    expect(await world.send()).toBe(0);
    clock.aheadMs += claimMs + 1;
    expect(await world.send()).toBe(1);
    clock.aheadMs += claimMs + 1;
    expect(await world.send()).toBe(0);
    const arrived = mail.mails.filter(({ headers }) => headers['message-id']?.includes(id));
    expect(arrived).toHaveLength(2);
    expect((await message(id)).attempts.map(({ attemptNum }) => attemptNum)).toEqual([2]);
  });

  it('several workers at once send a message once', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const ids = await Promise.all(Array.from({ length: 10 }, () => makeTest(ruleId)));
    await Promise.all(Array.from({ length: 4 }, () => world.send()));
    for (const id of ids) {
      expect(mail.mails.filter(({ headers }) => headers['message-id']?.includes(id))).toHaveLength(1);
    }
  });

  it('a removed rule sends nothing more', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const id = await makeTest(ruleId);
    await removeAlert({ pool: sql, actor: 'cli:test' }, ruleId);
    expect(await world.send()).toBe(0);
    expect((await message(id)).status).toBe('not_sent');
  });
});

describe('a broken channel', () => {
  it('a channel is marked after three failed tries, the operator gets one mail, and the failure of that mail makes no other', async () => {
    const rules = await Promise.all([world.addRule(['dead_letter']), world.addRule(['dead_letter'])]);
    for (const { ruleId } of rules) await makeTest(ruleId);
    mail.answerWith('refuse');
    for (let tries = 0; tries < 30; tries += 1) {
      await world.send();
      clock.aheadMs += 300_001;
    }
    const { rows } = await sql.query<{ failures: number; last_error: string }>(
      'select failures, last_error from alert_rules where removed_at is null',
    );
    expect(rows.every(({ failures }) => failures >= 3)).toBe(true);
    expect(rows[0]?.last_error).toContain('no such mailbox');
    const operator = (await world.messages()).filter(({ rule_id }) => rule_id === null);
    expect(operator).toHaveLength(1);
    expect(operator[0]).toMatchObject({ type: 'channel_broken', state: 'firing' });

    mail.answerWith('accept');
    clock.aheadMs += 3_600_000;
    await world.send();
    const told = mail.mails.filter(({ to }) => to.includes('operator@relay.example'));
    expect(told).toHaveLength(1);
    expect(told[0]?.text).toContain('no such mailbox');
    const healed = await sql.query('select from alert_rules where removed_at is null and failures > 0');
    expect(healed.rowCount).toBe(0);
  });

  it('a test that arrives ends the broken state, and what waited for its next try is sent at once', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const waiting = await makeTest(ruleId);
    mail.answerWith('refuse');
    for (let tries = 0; tries < 6; tries += 1) {
      await world.send();
      clock.aheadMs += 900_001;
    }
    await world.send();
    const rule = async () =>
      (await listAlertRules(sql, { projectId: undefined })).find(({ id }) => id === ruleId);
    expect(await rule()).toMatchObject({ isBroken: true });

    mail.answerWith('accept');
    const test = await makeTest(ruleId);
    await world.send();
    expect((await message(test)).status).toBe('sent');
    expect(await rule()).toMatchObject({ isBroken: false, failingSince: null, lastError: null });
    expect((await message(waiting)).status).toBe('waiting');
    clock.aheadMs += 1_000;
    await world.send();
    expect((await message(waiting)).status).toBe('sent');
  });

  it('without SMTP_URL a mail stays to be sent and says why', async () => {
    const { ruleId } = await world.addRule(['dead_letter']);
    const id = await makeTest(ruleId);
    await sendAlerts({ ...world.deps, mailer: undefined });
    expect(await message(id)).toMatchObject({
      status: 'waiting',
      attempts: [{ answer: 'the worker has no SMTP_URL' }],
    });
  });
});

it.each(['alert_messages', 'alert_attempts'])('%s is append-only for its owner too', async (table) => {
  for (const statement of [`delete from ${table}`, `truncate ${table}`]) {
    await expect(sql.query(statement)).rejects.toMatchObject({ code: '23001' });
  }
});

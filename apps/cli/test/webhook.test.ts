import { appendAudit, type AuditRow } from '@hqrelay/db/queries/append-audit';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();
let projectId: string;
let endpointId: string;
beforeAll(async () => {
  projectId = await world.createProject();
  ({ endpointId } = await world.addEndpoint(projectId, 'https://endpoint.example/hook'));
});
type Received = { ageMs?: number; status?: 'queued' | 'duplicate' | 'rejected'; body?: Buffer };

async function receive({ ageMs = 0, status = 'queued', body = Buffer.from('{"a":1}') }: Received = {}) {
  const id = newId(Date.now() - ageMs);
  const log = {
    id,
    projectId,
    webhookId: 'evt_1',
    eventType: 'payment.captured',
    status,
    reason: status === 'rejected' ? 'signature.mismatch' : null,
    endpointIds: status === 'queued' ? [endpointId] : [],
    duplicateOf: null,
    payloadSha256: 'ab'.repeat(32),
    payloadBytes: body.length,
    remoteAddr: '192.0.2.7',
    correlationId: 'correlation-1',
  };
  const headers: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['X-Odd', 'a\u001b[31mred'],
  ];
  const payload = status === 'rejected' ? null : { payload: body, headers, query: 'tenant=7' };
  await appendAudit(world.sql, [{ kind: 'webhook', log, payload }]);
  return id;
}

function attempt(webhookLogId: string, attemptNum: number, statusCode: number): AuditRow {
  const isDelivered = statusCode < 300;
  return {
    kind: 'attempt',
    attempt: {
      id: freshId(),
      deliveryId: deliveryId(webhookLogId, endpointId),
      webhookLogId,
      projectId,
      endpointId,
      lane: attemptNum === 1 ? 'live' : 'retry',
      attemptNum,
      status: isDelivered ? 'delivered' : 'failed',
      statusCode,
      latencyMs: 12,
      error: isDelivered ? null : `HTTP ${statusCode}`,
      responseBody: 'no\n\u001b[2Jway',
      correlationId: 'correlation-1',
      nextAttemptAt: isDelivered ? null : Date.now() + 50_000,
    },
  };
}

const list = async (...options: string[]) =>
  jsonOf(await world.run('webhook', 'list', '--project', projectId, ...options, '--json')) as {
    id: string;
    deliveries: object;
  }[];

describe('webhook list', () => {
  it('webhook list shows the newest webhooks first, filtered by time, status and limit', async () => {
    const old = await receive({ ageMs: 3 * 3_600_000 });
    const rejected = await receive({ ageMs: 60_000, status: 'rejected' });
    const queued = await receive();
    const ids = async (...options: string[]) => (await list(...options)).map(({ id }) => id);
    expect(await ids()).toEqual([queued, rejected, old]);
    expect(await ids('--since', '1h')).toEqual([queued, rejected]);
    expect(await ids('--status', 'rejected')).toEqual([rejected]);
    expect(await ids('--limit', '1')).toEqual([queued]);
    const forPeople = await world.run('webhook', 'list', '--project', projectId, '--limit', '1');
    expect(forPeople.stdout).toContain('The newest 1 of more');
  });

  it('webhook list counts the deliveries of each webhook by state', async () => {
    const id = await receive();
    expect((await list('--limit', '1'))[0]).toMatchObject({ id, deliveries: { waiting: 1 } });
    await appendAudit(world.sql, [attempt(id, 1, 200)]);
    expect((await list('--limit', '1'))[0]).toMatchObject({ id, deliveries: { delivered: 1 } });
  });

  it('webhook list and webhook show tell in words why a request was rejected', async () => {
    const id = await receive({ status: 'rejected' });
    const meaning = 'No active secret of the project makes this signature.';
    const listed = await world.run('webhook', 'list', '--project', projectId, '--status', 'rejected');
    expect(listed.stdout.split(`signature.mismatch: ${meaning}`)).toHaveLength(2);
    const shown = await world.run('webhook', 'show', id);
    expect(shown.stdout).toMatch(/^ +reason +signature\.mismatch$/m);
    expect(shown.stdout).toContain(meaning);
  });

  it('webhook list fails for a project that does not exist', async () => {
    const outcome = await world.run('webhook', 'list', '--project', '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no project');
  });
});

describe('webhook show', () => {
  it('webhook show prints the webhook, its deliveries and all their attempts', async () => {
    const id = await receive();
    await appendAudit(world.sql, [attempt(id, 1, 503), attempt(id, 2, 200)]);
    const story = jsonOf(await world.run('webhook', 'show', id.toUpperCase(), '--json'));
    expect(story).toMatchObject({
      webhook: { id, webhookId: 'evt_1', status: 'queued', correlationId: 'correlation-1' },
      payload: { bytes: 7, text: '{"a":1}', query: 'tenant=7' },
      deliveries: [
        {
          endpointId,
          deliveryId: deliveryId(id, endpointId),
          url: 'https://endpoint.example/hook',
          state: 'delivered',
          attempts: 2,
          lastStatusCode: 200,
        },
      ],
      attempts: [
        { attemptNum: 1, lane: 'live', status: 'failed', statusCode: 503, error: 'HTTP 503' },
        { attemptNum: 2, lane: 'retry', status: 'delivered', statusCode: 200 },
      ],
    });
  });

  it('webhook show prints text from senders and endpoints without control characters', async () => {
    const id = await receive();
    await appendAudit(world.sql, [attempt(id, 1, 503)]);
    const { exitCode, stdout } = await world.run('webhook', 'show', id);
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/waiting +\S+ +https:\/\/endpoint.example\/hook +1 +HTTP 503 +due in \d+ s/);
    expect(stdout).toContain('{"a":1}');
  });

  it.each([
    ['long', Buffer.alloc(5_000, 'a')],
    ['not text', Buffer.from([0xff, 0x00])],
  ])('webhook show leaves out a body that is %s, and prints its size', async (_, body) => {
    const id = await receive({ body });
    expect(jsonOf(await world.run('webhook', 'show', id, '--json'))).toMatchObject({
      payload: { bytes: body.length, text: null },
    });
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toContain(`(${body.length} bytes, not shown)`);
  });

  it('webhook show prints a webhook that has no payload and owes no delivery', async () => {
    const id = await receive({ status: 'rejected' });
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toContain('signature.mismatch');
    expect(stdout).toContain('not stored');
    expect(stdout).toContain('a rejected webhook is not delivered');
  });

  it('webhook show fails for a webhook that does not exist', async () => {
    const outcome = await world.run('webhook', 'show', freshId(), '--json');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no webhook');
  });
});

describe('webhook show of an ordered delivery', () => {
  it('webhook show says which webhook a held delivery is behind, its key and the time of the next attempt', async () => {
    const accept = async () => {
      const id = newId(Date.now());
      const log = {
        id,
        projectId,
        webhookId: id,
        eventType: null,
        status: 'queued' as const,
        reason: null,
        endpointIds: [endpointId],
        duplicateOf: null,
        payloadSha256: null,
        payloadBytes: 0,
        remoteAddr: null,
        correlationId: 'correlation-1',
      };
      const delivery = { deliveryId: deliveryId(id, endpointId), endpointId, key: '12345' };
      const ordering = { deliveries: [delivery], acceptedAtUs: Date.now() * 1_000, isEarly: false };
      await appendAudit(world.sql, [{ kind: 'webhook', log, payload: null, ordering }]);
      return id;
    };
    const first = await accept();
    await appendAudit(world.sql, [attempt(first, 1, 503)]);
    const second = await accept();
    await world.sql.query(
      `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, reason, due_at, held_at, queue, message)
       values ($1, $2, $3, '12345', 'order', now(), now(), 'hqrelay.webhooks', '')`,
      [deliveryId(second, endpointId), second, endpointId],
    );
    const shown = (await world.run('webhook', 'show', second)).stdout;
    expect(shown).toMatch(new RegExp(`behind ${first} of key 12345, next attempt \\d{4}-\\d\\d-\\d\\d`));
    const json = jsonOf(await world.run('webhook', 'show', second, '--json'));
    expect(json).toMatchObject({
      deliveries: [{ order: { key: '12345', sequence: 2, behind: { webhookId: first, state: 'waiting' } } }],
    });
  });
});

import { deliveryId } from '@hqrelay/domain/ids';
import { holdWebhook } from '@hqrelay/testing/database/record-webhook';
import { freshId } from '@hqrelay/testing/fresh-id';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { die, heldReplays, receive, runReplayJobs } from './dead-letter-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();
let projectId: string;
let endpointId: string;

beforeEach(async () => {
  projectId = await world.createProject();
  ({ endpointId } = await world.addEndpoint(projectId, 'https://endpoint.example/hook'));
});
afterEach(() =>
  world.sql.query('delete from held_deliveries; delete from dead_letters; delete from replay_jobs'),
);

type Replayed = {
  id: string;
  replays: { replayId: string; deliveryId: string; endpointId: string; heldBecause: string | null }[];
};
const replay = async (...argv: string[]) => jsonOf(await world.run('replay', ...argv, '--json')) as Replayed;

describe('replay', () => {
  it('replay of a webhook creates a delivery to each endpoint that it owes, due now, in a finished job', async () => {
    const { endpointId: other } = await world.addEndpoint(projectId, 'https://other.example/hook');
    const id = await receive(world, projectId, { endpointIds: [endpointId, other] });
    const outcome = await world.run('replay', id.toUpperCase(), '--json');
    const { jobId, count } = jsonOf(outcome) as { jobId: string; count: number };
    expect({ count, outcome: jsonOf(outcome) }).toEqual({ count: 2, outcome: { jobId, count } });
    expect(jsonOf(await world.run('replay-job', 'show', jobId, '--json'))).toMatchObject({
      state: 'finished',
      replayed: 2,
      selection: { kind: 'webhook', webhookLogId: id, endpointIds: [endpointId, other] },
    });
    expect((await world.run('replay-job', 'list')).stdout).toContain(`webhook ${id}`);
    const held = await heldReplays(world);
    expect(new Set(held.map(({ envelope }) => envelope.delivery?.endpointId))).toEqual(
      new Set([endpointId, other]),
    );
    for (const { dueAt } of held) expect(dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    await runReplayJobs(world);
    expect(await heldReplays(world)).toHaveLength(2);
  });

  it('replay of a webhook creates a new delivery each time', async () => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const [first] = (await replay(id)).replays;
    expect(first?.deliveryId).toBe(deliveryId(id, endpointId, first!.replayId));
    expect((await replay(id)).replays[0]?.replayId).not.toBe(first?.replayId);
    expect(await heldReplays(world)).toHaveLength(2);
  });

  it('replay sends a webhook to an endpoint that was added later', async () => {
    const id = await receive(world, projectId, { ageMs: 60_000, endpointIds: [endpointId] });
    const { endpointId: later } = await world.addEndpoint(projectId, 'https://later.example/hook');
    expect((await replay(id, '--endpoint', later)).replays).toMatchObject([{ endpointId: later }]);
    const [held] = await heldReplays(world);
    expect(held?.envelope).toMatchObject({ id, endpointIds: [later], delivery: { endpointId: later } });
  });

  it('replay of a webhook with status conflict needs --endpoint and goes to that endpoint', async () => {
    const id = await receive(world, projectId, { status: 'conflict', reason: 'another body' });
    const without = await world.run('replay', id);
    expect(without).toMatchObject({ exitCode: 1, stdout: '' });
    expect(without.stderr).toContain('name one of its project');
    expect((await replay(id, '--endpoint', endpointId)).replays).toHaveLength(1);
  });

  it('replay of a webhook marks its dead letter as replayed', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    const { replays } = await replay(id);
    const { rows } = await world.sql.query('select replay_id from dead_letters where id = $1', [
      deadLetterId,
    ]);
    expect(rows).toEqual([{ replay_id: replays[0]!.replayId }]);
  });

  it('replay keeps the places of the credentials, so that the worker can put them back', async () => {
    const credentials = [{ name: 'Authorization', secretId: freshId(), before: 'Bearer ', after: '' }];
    const id = await receive(world, projectId, { endpointIds: [endpointId], payload: { credentials } });
    await replay(id);
    expect((await heldReplays(world))[0]?.envelope.credentials).toEqual(credentials);
  });

  it('replay to a disabled endpoint is allowed and says that the delivery is held', async () => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    await world.run('endpoint', 'disable', endpointId);
    expect((await replay(id)).replays).toMatchObject([{ heldBecause: 'disabled' }]);
    expect((await world.run('replay', id)).stdout).toContain(
      'the endpoint is disabled: held until it is not',
    );
  });

  it.each([
    ['queued', {}, 'its payload was dropped (PAYLOAD_RETENTION_DAYS)'],
    ['duplicate', { duplicateOf: '01890a5d-ac96-774b-bcce-b302099a8057' }, 'replay that one'],
    ['rejected', { reason: 'signature.mismatch' }, 'was rejected (signature.mismatch)'],
    ['rate_limited', {}, 'was rate_limited, and the payload of such a request is not kept'],
    ['failed_to_queue', {}, 'the provider sends it again'],
  ] as const)('replay without a stored payload fails and says why: %s', async (status, more, message) => {
    const id = await receive(world, projectId, { status, endpointIds: [], payload: null, ...more });
    const outcome = await world.run('replay', id, '--endpoint', endpointId, '--json');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain(message);
    expect(await heldReplays(world)).toEqual([]);
  });

  it('replay fails for an endpoint of another project, an unknown endpoint and an unknown webhook', async () => {
    const otherProject = await world.createProject();
    const { endpointId: foreign } = await world.addEndpoint(otherProject, 'https://a.example/hook');
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const toOther = await world.run('replay', id, '--endpoint', foreign);
    expect(toOther.stderr).toContain('of another project');
    const toNone = await world.run('replay', id, '--endpoint', freshId());
    expect(toNone.stderr).toContain('there is no endpoint');
    expect((await world.run('replay', freshId())).stderr).toContain('there is no webhook');
    expect(await heldReplays(world)).toEqual([]);
  });
});

describe('replay of a period', () => {
  const period = async (...argv: string[]) => {
    const argvOfAll = ['replay', '--endpoint', endpointId, ...argv, '--json'];
    return jsonOf(await world.run(...argvOfAll)) as { jobId: string; count: number };
  };
  const heldIds = async () => (await heldReplays(world)).map(({ envelope }) => envelope.id);

  it('replay of a period sends every webhook that the event filter accepts, owed or not, the oldest first', async () => {
    await world.run('endpoint', 'update', endpointId, '--events', 'payment.*');
    const before = await receive(world, projectId, { ageMs: 3 * 3_600_000, endpointIds: [endpointId] });
    const owed = await receive(world, projectId, { ageMs: 60_000, endpointIds: [endpointId] });
    await receive(world, projectId, { ageMs: 50_000, eventType: 'order.paid' });
    const neverOwed = await receive(world, projectId, { ageMs: 40_000 });
    expect(await period('--since', '1h')).toEqual({ jobId: expect.any(String), count: 2 });
    await runReplayJobs(world);
    expect(await heldIds()).toEqual([owed, neverOwed]);
    expect(await period('--since', '1d', '--until', '1h', '--dry-run')).toEqual({ count: 1, capped: false });
    await period('--since', '1d', '--until', '1h');
    await runReplayJobs(world);
    expect(await heldIds()).toContain(before);
  });

  it('replay of a period with --missing leaves out deliveries that wait and those of another replay', async () => {
    await receive(world, projectId, { ageMs: 60_000, endpointIds: [endpointId] });
    const neverOwed = await receive(world, projectId, { ageMs: 50_000 });
    const { id: dead } = await die(world, projectId, endpointId, { ageMs: 40_000 });
    expect(await period('--since', '1h', '--missing')).toMatchObject({ count: 2 });
    await runReplayJobs(world);
    expect(await heldIds()).toEqual([neverOwed, dead]);
    expect(await period('--since', '1h', '--missing', '--dry-run')).toEqual({ count: 0, capped: false });
  });

  it('replay of a period fails for an unknown endpoint and for an archived one', async () => {
    const unknown = await world.run('replay', '--endpoint', freshId(), '--since', '1h');
    expect(unknown.stderr).toContain('there is no endpoint');
    await world.run('endpoint', 'archive', endpointId);
    const archived = await world.run('replay', '--endpoint', endpointId, '--since', '1h');
    expect(archived).toMatchObject({ exitCode: 1, stdout: '' });
    expect(archived.stderr).toContain('is archived: nothing is sent to it');
  });
});

describe('webhook show', () => {
  it('webhook show prints who requested each replay, and its state', async () => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const { replays } = await replay(id, '--by', 'ann');
    expect(jsonOf(await world.run('webhook', 'show', id, '--json'))).toMatchObject({
      deliveries: [{ state: 'waiting' }],
      replays: [
        {
          replayId: replays[0]!.replayId,
          deliveryId: replays[0]!.deliveryId,
          endpointId,
          url: 'https://endpoint.example/hook',
          requestedBy: 'ann',
          requestedAt: expect.stringMatching(/Z$/),
          state: 'held',
          heldReason: 'delay',
          attempts: 0,
        },
      ],
    });
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toMatch(/REPLAYS\n.*\n.*ann +held/);
  });

  it('webhook show prints why a delivery is a dead letter, and the command that replays it', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toContain(`dead letter ${deadLetterId}: HTTP 500 at attempt 6, the last`);
    const command = /to deliver it again: hqrelay (.+)/.exec(stdout)?.[1];
    expect(jsonOf(await world.run(...command!.split(' '), '--json'))).toMatchObject({ count: 1 });
    await runReplayJobs(world);
    expect((await world.run('webhook', 'show', id)).stdout).toContain('; replayed at ');
  });

  it.each([
    ['paused', 'its endpoint is paused'],
    ['disabled', 'its endpoint is disabled'],
    ['breaker', 'its endpoint is failing or has more in flight than it may'],
    ['delay', 'due in'],
  ] as const)('webhook show says in words why a delivery is held: %s', async (reason, words) => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const held = { webhookLogId: id, endpointId, reason, dueAt: Date.now() + 60_000 };
    await holdWebhook(world.sql, { ...held, message: Buffer.from('message') }, Date.now());
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toMatch(new RegExp(`held +${endpointId} .*${words}`));
  });
});

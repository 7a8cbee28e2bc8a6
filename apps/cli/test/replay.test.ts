import { holdDeliveries } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId, newId } from '@hqrelay/domain/ids';
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
  it('of a webhook goes to every endpoint that it owes, at once, as a job that is finished', async () => {
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

  it('of a webhook is a delivery of its own, as often as it is asked for', async () => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const [first] = (await replay(id)).replays;
    expect(first?.deliveryId).toBe(deliveryId(id, endpointId, first!.replayId));
    expect((await replay(id)).replays[0]?.replayId).not.toBe(first?.replayId);
    expect(await heldReplays(world)).toHaveLength(2);
  });

  it('goes to an endpoint that was added later', async () => {
    const id = await receive(world, projectId, { ageMs: 60_000, endpointIds: [endpointId] });
    const { endpointId: later } = await world.addEndpoint(projectId, 'https://later.example/hook');
    expect((await replay(id, '--endpoint', later)).replays).toMatchObject([{ endpointId: later }]);
    const [held] = await heldReplays(world);
    expect(held?.envelope).toMatchObject({ id, endpointIds: [later], delivery: { endpointId: later } });
  });

  it('of a webhook that was in conflict with another goes to the endpoint that is named', async () => {
    const id = await receive(world, projectId, { status: 'conflict', reason: 'another body' });
    const without = await world.run('replay', id);
    expect(without).toMatchObject({ exitCode: 1, stdout: '' });
    expect(without.stderr).toContain('name one of its project with --endpoint');
    expect((await replay(id, '--endpoint', endpointId)).replays).toHaveLength(1);
  });

  it('marks the dead letter of that delivery as replayed', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    const { replays } = await replay(id);
    const { rows } = await world.sql.query('select replay_id from dead_letters where id = $1', [
      deadLetterId,
    ]);
    expect(rows).toEqual([{ replay_id: replays[0]!.replayId }]);
  });

  it('keeps the places of credentials, for an endpoint that they are forwarded to', async () => {
    const credentials = [{ name: 'Authorization', secretId: newId(), before: 'Bearer ', after: '' }];
    const id = await receive(world, projectId, { endpointIds: [endpointId], payload: { credentials } });
    await replay(id);
    expect((await heldReplays(world))[0]?.envelope.credentials).toEqual(credentials);
  });

  it('to an endpoint that is disabled is allowed, and says that it waits', async () => {
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
    ['rejected', { reason: 'signature wrong' }, 'was rejected (signature wrong)'],
    ['rate_limited', {}, 'was rate_limited, and the payload of such a request is not kept'],
    ['failed_to_queue', {}, 'the provider sends it again'],
  ] as const)('of a webhook without a payload says why it cannot: %s', async (status, more, message) => {
    const id = await receive(world, projectId, { status, endpointIds: [], payload: null, ...more });
    const outcome = await world.run('replay', id, '--endpoint', endpointId, '--json');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain(message);
    expect(await heldReplays(world)).toEqual([]);
  });

  it('to an endpoint of another project, or to none, fails', async () => {
    const otherProject = await world.createProject();
    const { endpointId: foreign } = await world.addEndpoint(otherProject, 'https://a.example/hook');
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const toOther = await world.run('replay', id, '--endpoint', foreign);
    expect(toOther.stderr).toContain('of another project');
    const toNone = await world.run('replay', id, '--endpoint', newId());
    expect(toNone.stderr).toContain('there is no endpoint');
    expect((await world.run('replay', newId())).stderr).toContain('there is no webhook');
    expect(await heldReplays(world)).toEqual([]);
  });
});

describe('replay of a period', () => {
  const period = async (...argv: string[]) => {
    const argvOfAll = ['replay', '--endpoint', endpointId, ...argv, '--json'];
    return jsonOf(await world.run(...argvOfAll)) as { jobId: string; count: number };
  };
  const heldIds = async () => (await heldReplays(world)).map(({ envelope }) => envelope.id);

  it('sends the endpoint what its event filter takes, the oldest first, delivered or not', async () => {
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

  it('with --missing leaves out deliveries that wait, and those of another replay', async () => {
    await receive(world, projectId, { ageMs: 60_000, endpointIds: [endpointId] });
    const neverOwed = await receive(world, projectId, { ageMs: 50_000 });
    const { id: dead } = await die(world, projectId, endpointId, { ageMs: 40_000 });
    expect(await period('--since', '1h', '--missing')).toMatchObject({ count: 2 });
    await runReplayJobs(world);
    expect(await heldIds()).toEqual([neverOwed, dead]);
    expect(await period('--since', '1h', '--missing', '--dry-run')).toEqual({ count: 0, capped: false });
  });

  it('of no endpoint, and of one that is archived, fails', async () => {
    const unknown = await world.run('replay', '--endpoint', newId(), '--since', '1h');
    expect(unknown.stderr).toContain('there is no endpoint');
    await world.run('endpoint', 'archive', endpointId);
    const archived = await world.run('replay', '--endpoint', endpointId, '--since', '1h');
    expect(archived).toMatchObject({ exitCode: 1, stdout: '' });
    expect(archived.stderr).toContain('is archived: nothing is sent to it');
  });
});

describe('webhook show', () => {
  it('shows who asked for each replay and which state it is in', async () => {
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

  it('shows why a delivery is dead, and the command that replays it', async () => {
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
  ] as const)('says in words why a delivery is held: %s', async (reason, words) => {
    const id = await receive(world, projectId, { endpointIds: [endpointId] });
    const held = {
      deliveryId: deliveryId(id, endpointId),
      webhookLogId: id,
      endpointId,
      attemptNum: 1,
      orderingKey: null,
      reason,
      dueAt: Date.now() + 60_000,
      queue: 'hqrelay.webhooks',
      message: Buffer.from('message'),
    };
    await holdDeliveries(world.sql, [held], Date.now());
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toMatch(new RegExp(`held +${endpointId} .*${words}`));
  });
});

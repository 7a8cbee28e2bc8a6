import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CliWorld, createCliWorld } from './cli-world.ts';
import { die, heldReplays } from './dead-letter-world.ts';
import { jsonOf } from './run-cli.ts';

let world: CliWorld;
let projectId: string;
let endpointId: string;

beforeAll(async () => {
  world = await createCliWorld();
});
afterAll(() => world.close());

beforeEach(async () => {
  projectId = await world.createProject();
  ({ endpointId } = await world.addEndpoint(projectId, 'https://endpoint.example/hook'));
});
afterEach(() => world.sql.query('delete from held_deliveries; delete from dead_letters'));

type Listed = { id: string; replayId: string | null };
const list = async (...options: string[]) =>
  jsonOf(await world.run('dlq', 'list', '--project', projectId, ...options, '--json')) as Listed[];
const idsOf = async (...options: string[]) => (await list(...options)).map(({ id }) => id);

describe('dlq list', () => {
  it('lists the newest first, within the project, the endpoint, the time and the limit asked for', async () => {
    const { endpointId: other } = await world.addEndpoint(projectId, 'https://other.example/hook');
    const old = await die(world, projectId, endpointId, { deadForMs: 3 * 3_600_000 });
    const recent = await die(world, projectId, endpointId, { deadForMs: 60_000 });
    const elsewhere = await die(world, projectId, other);
    const all = [elsewhere, recent, old].map(({ deadLetterId }) => deadLetterId);
    expect(await idsOf()).toEqual(all);
    expect(await idsOf('--endpoint', other)).toEqual([elsewhere.deadLetterId]);
    expect(await idsOf('--since', '1h')).toEqual(all.slice(0, 2));
    const moment = new Date(Date.now() - 7_200_000).toISOString();
    expect(await idsOf('--since', moment.slice(0, 16))).toEqual(all.slice(0, 2));
    expect(await idsOf('--limit', '1')).toEqual(all.slice(0, 1));
    expect(jsonOf(await world.run('dlq', 'list', '--project', newId(), '--json'))).toEqual([]);
  });

  it('tells what each is and where it was going', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    expect(await list()).toMatchObject([
      {
        id: deadLetterId,
        kind: 'delivery',
        reason: 'HTTP 500 at attempt 6, the last',
        projectId,
        webhookLogId: id,
        webhookId: `evt-${id}`,
        endpointId,
        endpointUrl: 'https://endpoint.example/hook',
        attempts: 0,
        deadAt: expect.stringMatching(/Z$/),
        replayedAt: null,
      },
    ]);
    const { stdout } = await world.run('dlq', 'list', '--project', projectId);
    expect(stdout).toContain(deadLetterId);
    expect(stdout).toContain('HTTP 500 at attempt 6, the last');
  });

  it('says when there are more than it shows, also to whoever reads JSON', async () => {
    for (let count = 0; count < 3; count += 1) await die(world, projectId, endpointId);
    const forPeople = await world.run('dlq', 'list', '--project', projectId, '--limit', '2');
    expect(forPeople.stdout).toContain('The newest 2 of 3');
    const json = await world.run('dlq', 'list', '--project', projectId, '--limit', '2', '--json');
    expect(jsonOf(json)).toHaveLength(2);
    expect(json.stderr).toContain('The newest 2 of 3');
  });

  it('leaves out what was replayed, unless all are asked for', async () => {
    const { deadLetterId } = await die(world, projectId, endpointId);
    await world.run('dlq', 'replay', deadLetterId);
    expect(await list()).toEqual([]);
    expect(await list('--all')).toMatchObject([{ id: deadLetterId, replayId: expect.any(String) }]);
    const { stdout } = await world.run('dlq', 'list', '--project', projectId);
    expect(stdout).toContain('--all shows the others');
  });
});

type Replayed = {
  count: number;
  endpoints: { endpointId: string; count: number; heldBecause: string | null }[];
  replays?: { deadLetterId: string; replayId: string; deliveryId: string }[];
  firstDueAt: string | null;
  lastDueAt: string | null;
  notReplayed: { reason: string; count: number; ids: string[] }[];
};

describe('dlq replay', () => {
  it('of one dead letter makes a message that a worker delivers as a first attempt of a delivery of its own', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    const outcome = await world.run('dlq', 'replay', deadLetterId, '--by', 'ann', '--json');
    const { count, replays } = jsonOf(outcome) as Replayed;
    const [replay] = replays!;
    expect(count).toBe(1);
    expect(replay).toMatchObject({
      deadLetterId,
      deliveryId: deliveryId(id, endpointId, replay!.replayId),
    });
    const [held] = await heldReplays(world);
    expect(held).toMatchObject({
      body: Buffer.from('{"a":1}'),
      envelope: {
        id,
        projectId,
        eventType: 'payment.captured',
        correlationId: 'correlation-1',
        endpointIds: [endpointId],
        headers: [['Content-Type', 'application/json']],
        copy: true,
        delivery: {
          deliveryId: replay!.deliveryId,
          endpointId,
          attemptNum: 1,
          lane: 'replay',
          replayId: replay!.replayId,
          notBefore: held!.dueAt.getTime(),
        },
      },
    });
    const { rows } = await world.sql.query('select * from replays where id = $1', [replay!.replayId]);
    expect(rows).toMatchObject([{ webhook_log_id: id, endpoint_id: endpointId, requested_by: 'ann' }]);
  });

  it('says who asked for it, when nobody says', async () => {
    const { deadLetterId } = await die(world, projectId, endpointId);
    jsonOf(await world.run('dlq', 'replay', deadLetterId, '--json'));
    const { rows } = await world.sql.query<{ requested_by: string }>(
      'select r.requested_by from replays r join dead_letters d on d.replay_id = r.id where d.id = $1',
      [deadLetterId],
    );
    expect(rows[0]?.requested_by).toMatch(/.@./);
  });

  it('in a dry run counts by endpoint, and changes nothing', async () => {
    const { endpointId: other } = await world.addEndpoint(projectId, 'https://other.example/hook');
    for (let count = 0; count < 3; count += 1) await die(world, projectId, endpointId);
    await die(world, projectId, other);
    await die(world, projectId, other, { payload: null });
    const outcome = await world.run('dlq', 'replay', '--project', projectId, '--dry-run', '--json');
    const result = jsonOf(outcome, 1) as Replayed;
    expect(result).toMatchObject({ dryRun: true, count: 4, firstDueAt: null });
    expect(new Map(result.endpoints.map((each) => [each.endpointId, each.count]))).toEqual(
      new Map([
        [endpointId, 3],
        [other, 1],
      ]),
    );
    expect(outcome.stderr).toContain('1 cannot be replayed: their payload is gone (PAYLOAD_RETENTION_DAYS)');
    expect(await list()).toHaveLength(5);
    expect(await heldReplays(world)).toEqual([]);
    const forPeople = await world.run('dlq', 'replay', '--endpoint', endpointId, '--dry-run');
    expect(forPeople).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3 dead letters would') });
  });

  it('of a project spaces them at the rate, and does nothing when it is asked for again', async () => {
    for (let count = 0; count < 6; count += 1) await die(world, projectId, endpointId);
    const otherProject = await world.createProject();
    const { endpointId: elsewhere } = await world.addEndpoint(otherProject, 'https://a.example/hook');
    await die(world, otherProject, elsewhere);
    const argv = ['dlq', 'replay', '--project', projectId, '--rate', '20', '--json'];
    const result = jsonOf(await world.run(...argv)) as Replayed;
    expect(result).toMatchObject({ count: 6, endpoints: [{ endpointId, count: 6 }], notReplayed: [] });
    const dues = (await heldReplays(world)).map(({ dueAt }) => dueAt.getTime());
    expect(dues.map((due) => due - dues[0]!)).toEqual([0, 50, 100, 150, 200, 250]);
    expect([result.firstDueAt, result.lastDueAt]).toEqual(
      [dues[0]!, dues[5]!].map((due) => new Date(due).toISOString()),
    );
    expect(jsonOf(await world.run(...argv))).toMatchObject({ count: 0, endpoints: [] });
    expect(await heldReplays(world)).toHaveLength(6);
  });

  it('takes those that died within the time asked for', async () => {
    const old = await die(world, projectId, endpointId, { deadForMs: 3 * 3_600_000 });
    const recent = await die(world, projectId, endpointId);
    await world.run('dlq', 'replay', '--endpoint', endpointId, '--until', '1h', '--since', '2d');
    expect(await idsOf()).toEqual([recent.deadLetterId]);
    expect(await idsOf('--all')).toEqual([recent.deadLetterId, old.deadLetterId]);
  });

  it('replays what it can, and says of each of the others why it cannot', async () => {
    const fine = await die(world, projectId, endpointId);
    const gone = await die(world, projectId, endpointId, { payload: null });
    const again = await die(world, projectId, endpointId);
    await world.run('dlq', 'replay', again.deadLetterId);
    const [poison, unknown] = [newId(), newId()];
    const noIds = { projectId: null, webhookLogId: null, endpointId: null };
    const bytes = { id: poison, kind: 'message' as const, reason: 'who knows', content: Buffer.from('?') };
    await insertDeadLetters(world.sql, [{ ...bytes, ...noIds }], Date.now());

    const ids = [fine.deadLetterId, gone.deadLetterId, again.deadLetterId, poison, unknown];
    const outcome = await world.run('dlq', 'replay', ...ids, '--json');
    const { count, replays, notReplayed } = jsonOf(outcome, 1) as Replayed;
    expect({ count, replays }).toMatchObject({ count: 1, replays: [{ deadLetterId: fine.deadLetterId }] });
    const why = new Map(notReplayed.flatMap((each) => each.ids.map((id) => [id, each.reason])));
    expect(why.get(gone.deadLetterId)).toBe('their payload is gone (PAYLOAD_RETENTION_DAYS)');
    expect(why.get(again.deadLetterId)).toMatch(/^it was replayed at .+ as /);
    expect(why.get(poison)).toBe('it is no delivery (message: who knows)');
    expect(why.get(unknown)).toBe('there is no such dead letter');
    for (const id of ids.slice(1)) expect(outcome.stderr).toContain(id);
  });

  it('to an endpoint that is paused or disabled is allowed, and says that it waits', async () => {
    const { deadLetterId } = await die(world, projectId, endpointId);
    await world.run('endpoint', 'pause', endpointId);
    const { exitCode, stdout } = await world.run('dlq', 'replay', deadLetterId);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('the endpoint is paused: held until it is not');
    expect(await heldReplays(world)).toHaveLength(1);
  });

  it('of a project or an endpoint that does not exist fails', async () => {
    for (const what of ['project', 'endpoint']) {
      const outcome = await world.run('dlq', 'replay', `--${what}`, newId());
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
      expect(outcome.stderr).toContain(`there is no ${what}`);
    }
  });
});

import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { die, heldReplays, runReplayJobs } from './dead-letter-world.ts';
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

type Listed = { id: string; replayId: string | null };
const list = async (...options: string[]) =>
  jsonOf(await world.run('dlq', 'list', '--project', projectId, ...options, '--json')) as Listed[];
const idsOf = async (...options: string[]) => (await list(...options)).map(({ id }) => id);

describe('dlq list', () => {
  it('dlq list shows the newest dead letters first, filtered by project, endpoint, time and limit', async () => {
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
    expect(jsonOf(await world.run('dlq', 'list', '--project', freshId(), '--json'))).toEqual([]);
  });

  it('dlq list shows the reason, the webhook and the endpoint of each dead letter', async () => {
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

  it('dlq list says when there are more dead letters than it shows, with --json on stderr', async () => {
    for (let count = 0; count < 3; count += 1) await die(world, projectId, endpointId);
    const forPeople = await world.run('dlq', 'list', '--project', projectId, '--limit', '2');
    expect(forPeople.stdout).toContain('The newest 2 of 3');
    const json = await world.run('dlq', 'list', '--project', projectId, '--limit', '2', '--json');
    expect(jsonOf(json)).toHaveLength(2);
    expect(json.stderr).toContain('The newest 2 of 3');
  });

  it('dlq list leaves out replayed dead letters, unless --all is given', async () => {
    const { deadLetterId } = await die(world, projectId, endpointId);
    await world.run('dlq', 'replay', deadLetterId);
    await runReplayJobs(world);
    expect(await list()).toEqual([]);
    expect(await list('--all')).toMatchObject([{ id: deadLetterId, replayId: expect.any(String) }]);
    const { stdout } = await world.run('dlq', 'list', '--project', projectId);
    expect(stdout).toContain('--all shows the others');
  });
});

const replay = async (...argv: string[]) =>
  jsonOf(await world.run('dlq', 'replay', ...argv, '--json')) as { jobId: string; count: number };

describe('dlq replay', () => {
  it('dlq replay of one dead letter creates a new delivery, which starts with attempt 1', async () => {
    const { id, deadLetterId } = await die(world, projectId, endpointId);
    const created = await replay(deadLetterId, '--by', 'ann');
    expect(created).toEqual({ jobId: expect.any(String), count: 1 });
    await runReplayJobs(world);
    const { rows } = await world.sql.query<{ id: string }>('select * from replays where job_id = $1', [
      created.jobId,
    ]);
    expect(rows).toMatchObject([{ webhook_log_id: id, endpoint_id: endpointId, requested_by: 'ann' }]);
    const replayId = rows[0]!.id;
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
        delivery: {
          deliveryId: deliveryId(id, endpointId, replayId),
          endpointId,
          attemptNum: 1,
          lane: 'replay',
          replayId,
          notBefore: held!.dueAt.getTime(),
        },
      },
    });
  });

  it('dlq replay without --by records the user and the host that requested it', async () => {
    const { deadLetterId } = await die(world, projectId, endpointId);
    const { jobId } = await replay(deadLetterId);
    const job = jsonOf(await world.run('replay-job', 'show', jobId, '--json'));
    expect(job).toMatchObject({ requestedBy: expect.stringMatching(/.@./) });
  });

  it('dlq replay --dry-run prints the count and changes nothing', async () => {
    for (let count = 0; count < 3; count += 1) await die(world, projectId, endpointId);
    await die(world, projectId, endpointId, { payload: null });
    const outcome = await world.run('dlq', 'replay', '--project', projectId, '--dry-run', '--json');
    expect(jsonOf(outcome)).toEqual({ count: 3, capped: false });
    expect(outcome.stderr).toContain(
      '1 cannot be replayed: the payload was dropped (PAYLOAD_RETENTION_DAYS)',
    );
    expect(await list()).toHaveLength(4);
    expect(jsonOf(await world.run('replay-job', 'list', '--project', projectId, '--json'))).toEqual([]);
    const forPeople = await world.run('dlq', 'replay', '--endpoint', endpointId, '--dry-run');
    expect(forPeople).toMatchObject({ exitCode: 0, stdout: '3 deliveries would be sent again.\n' });
  });

  it('dlq replay of a project spaces the deliveries at --rate, and a second one replays nothing', async () => {
    for (let count = 0; count < 6; count += 1) await die(world, projectId, endpointId);
    const otherProject = await world.createProject();
    const { endpointId: elsewhere } = await world.addEndpoint(otherProject, 'https://a.example/hook');
    await die(world, otherProject, elsewhere);
    expect(await replay('--project', projectId, '--rate', '20')).toMatchObject({ count: 6 });
    await runReplayJobs(world);
    const dues = (await heldReplays(world)).map(({ dueAt }) => dueAt.getTime());
    expect(dues.map((due) => due - dues[0]!)).toEqual([0, 50, 100, 150, 200, 250]);
    expect(await replay('--project', projectId, '--rate', '20')).toMatchObject({ count: 0 });
    await runReplayJobs(world);
    expect(await heldReplays(world)).toHaveLength(6);
  });

  it('dlq replay takes the dead letters of the period between --since and --until', async () => {
    const old = await die(world, projectId, endpointId, { deadForMs: 3 * 3_600_000 });
    const recent = await die(world, projectId, endpointId);
    await replay('--endpoint', endpointId, '--until', '1h', '--since', '2d');
    await runReplayJobs(world);
    expect(await idsOf()).toEqual([recent.deadLetterId]);
    expect(await idsOf('--all')).toEqual([recent.deadLetterId, old.deadLetterId]);
  });

  it('dlq replay of several ids replays those that it can, and says of each other one why it cannot', async () => {
    const fine = await die(world, projectId, endpointId);
    const again = await die(world, projectId, endpointId);
    await replay(again.deadLetterId);
    await runReplayJobs(world);
    const [poison, unknown] = [freshId(), freshId()];
    const noIds = { projectId: null, webhookLogId: null, endpointId: null };
    const bytes = {
      id: poison,
      kind: 'message' as const,
      reason: 'not a message',
      content: Buffer.from('?'),
    };
    await insertDeadLetters(world.sql, [{ ...bytes, ...noIds }], Date.now());

    const ids = [fine.deadLetterId, again.deadLetterId, poison, unknown];
    const outcome = await world.run('dlq', 'replay', ...ids, '--json');
    expect(jsonOf(outcome, 1)).toMatchObject({ count: 1 });
    expect(outcome.stderr).toMatch(
      new RegExp(`${again.deadLetterId} cannot be replayed: it was replayed at .+ as `),
    );
    expect(outcome.stderr).toContain(
      `${poison} cannot be replayed: it is no delivery (message: not a message)`,
    );
    expect(outcome.stderr).toContain(`${unknown} cannot be replayed: there is no such dead letter`);
    const none = await world.run('dlq', 'replay', unknown, '--json');
    expect(none).toMatchObject({ exitCode: 1, stdout: '' });
  });

  it('dlq replay fails for a project or an endpoint that does not exist', async () => {
    for (const what of ['project', 'endpoint']) {
      const outcome = await world.run('dlq', 'replay', `--${what}`, freshId());
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
      expect(outcome.stderr).toContain(`there is no ${what}`);
    }
  });
});

describe('replay-job', () => {
  it('replay-job show prints the progress of a job and the states of its replays, and list the job', async () => {
    for (let count = 0; count < 3; count += 1) await die(world, projectId, endpointId);
    const { jobId } = await replay('--project', projectId, '--by', 'ann');
    const shown = async () => jsonOf(await world.run('replay-job', 'show', jobId, '--json'));
    expect(await shown()).toMatchObject({ state: 'running', count: 3, replayed: 0, states: {} });
    await runReplayJobs(world);
    expect(await shown()).toMatchObject({
      id: jobId,
      projectId,
      state: 'finished',
      requestedBy: 'ann',
      ratePerSecond: 50,
      replayed: 3,
      states: { held: 3 },
      endedAt: expect.stringMatching(/Z$/),
    });
    const { stdout } = await world.run('replay-job', 'show', jobId);
    expect(stdout).toMatch(/finished\n[^]*replayed +3 of 3\n[^]*3 held/);
    const listed = jsonOf(await world.run('replay-job', 'list', '--project', projectId, '--json'));
    expect(listed).toMatchObject([{ id: jobId, state: 'finished' }]);
  });

  it('replay-job cancel stops a job before its next replay, and fails for a cancelled job', async () => {
    await die(world, projectId, endpointId);
    const { jobId } = await replay('--project', projectId);
    const cancelled = jsonOf(await world.run('replay-job', 'cancel', jobId, '--json'));
    expect(cancelled).toMatchObject({ id: jobId, state: 'cancelled', replayed: 0 });
    await runReplayJobs(world);
    expect(await heldReplays(world)).toEqual([]);
    const again = await world.run('replay-job', 'cancel', jobId);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toContain(`the replay job ${jobId} is cancelled`);
    const unknown = await world.run('replay-job', 'show', freshId());
    expect(unknown.stderr).toContain('there is no replay job');
  });

  it('a replay job is cancelled when its endpoint or its project is archived', async () => {
    await die(world, projectId, endpointId);
    const ofEndpoint = await replay('--endpoint', endpointId);
    await world.run('endpoint', 'archive', endpointId);
    const ofProject = await replay('--project', projectId);
    await world.run('project', 'archive', projectId);
    for (const { jobId } of [ofEndpoint, ofProject]) {
      const job = jsonOf(await world.run('replay-job', 'show', jobId, '--json'));
      expect(job).toMatchObject({ state: 'cancelled', replayed: 0 });
    }
    const refused = await world.run('dlq', 'replay', '--endpoint', endpointId);
    expect(refused.stderr).toContain('is archived: nothing is sent to it');
  });
});

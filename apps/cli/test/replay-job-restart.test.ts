import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openWorkerWorld } from './apps-world.ts';
import { receive } from './dead-letter-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openWorkerWorld();

it('a replay job whose worker is killed is finished by the next one, and each webhook is replayed once', async () => {
  const { endpoint, worker } = world;
  const projectId = await world.createProject();
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  const ids = new Set<string>();
  for (let count = 0; count < 60; count += 1) {
    ids.add(await receive(world, projectId, { ageMs: 60_000 - count }));
  }
  const argv = ['replay', '--endpoint', endpointId, '--since', '1h', '--missing', '--rate', '1', '--json'];
  const { jobId, count } = jsonOf(await world.run(...argv)) as { jobId: string; count: number };
  expect(count).toBe(60);
  const jobWhen = (what: string, isIt: (job: { state: string; replayed: number }) => boolean) =>
    waitFor(what, async () => {
      const shown = await world.run('replay-job', 'show', jobId, '--json');
      return isIt(jsonOf(shown) as { state: string; replayed: number });
    });

  await jobWhen('a part of the job', ({ replayed }) => replayed > 0);
  await worker.end('SIGKILL');
  const before = jsonOf(await world.run('replay-job', 'show', jobId, '--json'));
  expect(before).toMatchObject({ state: 'running' });
  // At its own rate the job would take a minute, so that it does not end before the kill.
  await world.sql.query('update replay_jobs set rate_per_second = 50 where id = $1', [jobId]);
  worker.start();
  await jobWhen('the end of the job', ({ state }) => state === 'finished');

  const delivered = () => new Set(endpoint.requests.map(({ headers }) => headers['webhook-id']));
  await waitFor('every webhook to arrive', () => delivered().size === ids.size);
  expect(delivered()).toEqual(ids);
  const { rows } = await world.sql.query<{ webhook_log_id: string }>(
    'select webhook_log_id from replays where job_id = $1',
    [jobId],
  );
  expect(rows.map((row) => row.webhook_log_id).toSorted()).toEqual([...ids].toSorted());
});

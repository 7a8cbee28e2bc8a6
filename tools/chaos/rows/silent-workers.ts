import type { AppProcess } from '@hqrelay/services/app-process';
import type { TcpProxy } from '@hqrelay/testing/network/tcp-proxy';
import { waitFor } from '@hqrelay/testing/wait-for';
import pg from 'pg';
import { hitBoth, type Row, type Stage } from '../row.ts';
import type { Site } from '../site.ts';

const alarmMs = 6_000;
/** Long enough that the broker misses heartbeats and closes the frozen worker's connections. */
const frozenMs = 60_000;
const cutOffMs = 30_000;
const othersDrainWithinMs = 20_000;

type Silence = {
  forMs: number;
  begin: (worker: AppProcess, proxy: TcpProxy) => void;
  end: (worker: AppProcess, proxy: TcpProxy) => void;
};

/** One worker falls silent while it holds the lock of the outbox: the others must not wait for it. */
function silentWorkerRow(row: Pick<Row, 'name' | 'fault' | 'duplicatesBecause'>, silence: Silence): Row {
  return {
    ...row,
    workersProxied: true,
    everyEnd: false,
    perSecond: 60,
    withinMs: 150_000,
    hit: hitBoth,
    run: async (site, stage) => {
      await fillOutbox(site, stage);
      const drain = await stopInDrain(site);
      const worker = site.workers[drain.index]!;
      const proxy = site.workerProxies[drain.index]!;
      await stage.fault(`${worker.name} falls silent while it drains the outbox`, async () => {
        const since = new Date();
        const endsAt = performance.now() + silence.forMs;
        silence.begin(worker, proxy);
        await drain.resume();
        try {
          await waitFor('the other worker to drain', () => isDrained(site, since), {
            timeoutMs: othersDrainWithinMs,
            everyMs: 100,
          });
          await stage.wait(stage.brief ? 0 : endsAt - performance.now());
        } finally {
          silence.end(worker, proxy);
        }
      });
    },
  };
}

async function fillOutbox({ services, world }: Site, stage: Stage): Promise<void> {
  await services.rabbitmqctl('set_vm_memory_high_watermark', 'absolute', '1');
  await stage.wait(alarmMs);
  const { rows } = await world.sql.query('select from outbox limit 100');
  if (rows.length < 100) throw new Error('the outbox did not fill');
}

/** Ends the alarm, and makes a worker wait for a locked row in the middle of its drain. `index` is its place in `workers`. */
async function stopInDrain(site: Site): Promise<{ index: number; resume: () => Promise<void> }> {
  const holder = new pg.Client({ connectionString: site.world.ownerDatabaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from outbox order by seq limit 1 for update');
    await site.services.rabbitmqctl('set_vm_memory_high_watermark', '0.4');
    const found = await waitFor('a worker to drain the outbox', () => findDrainer(site), { everyMs: 10 });
    return { index: found.index, resume: () => holder.end() };
  } catch (error) {
    await holder.end();
    throw error;
  }
}

async function findDrainer({ world, workerProxies }: Site): Promise<{ index: number } | undefined> {
  const { rows } = await world.sql.query<{ port: number }>(
    `select client_port as port from pg_stat_activity a join pg_locks l using (pid)
     where l.locktype = 'advisory' and a.wait_event_type = 'Lock' and a.datname = current_database()`,
  );
  const index = workerProxies.findIndex((proxy) =>
    rows.some(({ port }) => proxy.targetPorts().includes(port)),
  );
  return index < 0 ? undefined : { index };
}

/** Whether no message and no delivery from before `since` waits. */
async function isDrained({ world }: Site, since: Date): Promise<boolean> {
  const { rows } = await world.sql.query(
    `(select from outbox where created_at < $1 limit 1) union all
     (select from delivery_status where received_at < $1 and state = 'waiting' limit 1)`,
    [since],
  );
  return rows.length === 0;
}

export const silentWorkers: readonly Row[] = [
  silentWorkerRow(
    {
      name: 'worker-frozen',
      fault: `a worker is frozen (\`SIGSTOP\`) for ${frozenMs / 1_000} s while it drains the outbox`,
      duplicatesBecause: 'the broker gave the messages of the frozen worker to another one',
    },
    {
      forMs: frozenMs,
      begin: (worker) => worker.signal('SIGSTOP'),
      end: (worker) => worker.signal('SIGCONT'),
    },
  ),
  silentWorkerRow(
    {
      name: 'worker-cut-off',
      fault: `a worker is cut off from Postgres for ${cutOffMs / 1_000} s while it drains the outbox`,
      duplicatesBecause:
        'the worker that was cut off had published rows of the outbox that another one published again',
    },
    { forMs: cutOffMs, begin: (_, proxy) => proxy.blackHole(), end: (_, proxy) => proxy.release() },
  ),
];

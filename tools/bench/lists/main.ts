// `npm run bench -- --lists` measures the lists, searches and statistics of the console on 5 million webhooks and on 5,000.
import { appUser, databaseUrl, templateDatabase } from '@hqrelay/testing/run-services';
import { Postgres } from '@hqrelay/db/postgres';
import pg from 'pg';
import type { DurableServices } from '../../harness/durable-services.ts';
import { median } from '../isolation/live-phases.ts';
import { p95 } from '../isolation/site.ts';
import { explain } from './explain.ts';
import { load, projectId } from './load.ts';
import { queriesOf, type BenchQuery, type Subject } from './queries.ts';

export type ListLine = {
  name: string;
  smallMs: number;
  bigMs: number;
  p95Ms: number;
  boundMs: number;
  holds: boolean;
  plans: string[];
};

/** For loading; the tables fit into memory, as on a machine for so many webhooks. */
export const listSettings = [
  'shared_buffers=2GB',
  'max_wal_size=16GB',
  'maintenance_work_mem=512MB',
  'autovacuum=off',
];

const small = 5_000;
const projects = 2_000;
const rounds = 20;
const ratioMax = 5;
/** Below this the difference is of the machine. */
const noiseMs = 2;

/** Compares each query on `webhooks` rows with the same on 5,000. */
export async function measureLists(
  services: DurableServices,
  { webhooks, only, say }: { webhooks: number; only: readonly string[]; say: (line: string) => void },
): Promise<ListLine[]> {
  const now = Date.now();
  const tables = {
    small: await openFilled(services, { name: 'bench_small', webhooks: small, now, say }),
    big: await openFilled(services, { name: 'bench_big', webhooks, now, say }),
  };
  try {
    const [ofSmall, ofBig] = [
      queriesOf(await subjectOf(tables.small.pool, now)),
      queriesOf(await subjectOf(tables.big.pool, now)),
    ];
    const lines: ListLine[] = [];
    for (const [index, query] of ofBig.entries()) {
      if (only.length > 0 && !only.some((name) => query.name.includes(name))) continue;
      lines.push(await measure(tables, { ofSmall: ofSmall[index] as BenchQuery, ofBig: query }));
      say(`${query.name}: ${lines.at(-1)?.bigMs.toFixed(1)} ms`);
    }
    return lines;
  } finally {
    await Promise.all([tables.small.close(), tables.big.close()]);
  }
}

async function openFilled(
  { urls }: DurableServices,
  { name, webhooks, now, say }: { name: string; webhooks: number; now: number; say: (line: string) => void },
): Promise<Postgres> {
  const server = new pg.Client({ connectionString: urls.postgres });
  await server.connect();
  await server.query(`create database ${name} template ${templateDatabase}`);
  await server.query(`alter database ${name} set synchronous_commit = off`);
  await server.end();
  const pool = new pg.Pool({ connectionString: databaseUrl(urls.postgres, name), max: 3 });
  await load({ pool, webhooks, projects, now, say });
  await pool.end();
  // As the console reads.
  const url = databaseUrl(urls.postgres, name, appUser);
  return new Postgres({ url, applicationName: 'bench', max: 1, onChange: () => {} });
}

async function subjectOf(pool: pg.Pool, now: number): Promise<Subject> {
  const { rows } = await pool.query<MiddleRow>(
    `select id, received_at as "receivedAt", webhook_id as "webhookId", correlation_id as "correlationId", project_id as "projectId",
       endpoint_ids[1] as "endpointId"
     from webhook_logs where project_id = ${projectId('0')} and status = 'queued' and correlation_id like 'client-%'
       and received_at < $1
     order by received_at desc limit 1`,
    [new Date(now - 45 * 86_400_000)],
  );
  const { rows: listed } = await pool.query<{ id: string }>('select id from projects order by name limit 50');
  const middle = rows[0];
  if (!middle) throw new Error('the tables have no webhook of 45 days ago');
  return {
    projectId: middle.projectId,
    endpointId: middle.endpointId,
    middle: { ...middle, at: middle.receivedAt.getTime() },
    projectIds: listed.map(({ id }) => id),
    now,
  };
}

type MiddleRow = Record<'id' | 'webhookId' | 'correlationId' | 'projectId' | 'endpointId', string> & {
  receivedAt: Date;
};

/** The two tables take turns, so that a slow moment of the machine is of both. */
async function measure(
  tables: { small: Postgres; big: Postgres },
  { ofSmall, ofBig }: { ofSmall: BenchQuery; ofBig: BenchQuery },
): Promise<ListLine> {
  const times = { small: [] as number[], big: [] as number[] };
  for (let round = -3; round < rounds; round += 1) {
    const [smallMs, bigMs] = [await timed(tables.small.pool, ofSmall), await timed(tables.big.pool, ofBig)];
    if (round < 0) continue;
    times.small.push(smallMs);
    times.big.push(bigMs);
  }
  const [smallMs, bigMs] = [median(times.small), median(times.big)];
  const holds = bigMs < ofBig.boundMs && bigMs <= ratioMax * Math.max(smallMs, noiseMs);
  const plans = await explain(tables.big.pool, ofBig.run);
  return { name: ofBig.name, smallMs, bigMs, p95Ms: p95(times.big), boundMs: ofBig.boundMs, holds, plans };
}

async function timed(pool: pg.Pool, { run }: BenchQuery): Promise<number> {
  const startedAt = performance.now();
  await run(pool);
  return performance.now() - startedAt;
}

/** The lines of a table, the head first. */
export function listCells(lines: readonly ListLine[], webhooks: number): string[][] {
  return [
    ['query', '5,000, ms', `${webhooks.toLocaleString('en')}, ms`, 'p95 ms', 'ratio', 'bound ms', 'holds'],
    ...lines.map(({ name, smallMs, bigMs, p95Ms, boundMs, holds }) => [
      name,
      smallMs.toFixed(1),
      bigMs.toFixed(1),
      p95Ms.toFixed(1),
      (bigMs / smallMs).toFixed(1),
      String(boundMs),
      holds ? 'yes' : 'NO',
    ]),
  ];
}

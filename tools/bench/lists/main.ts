// `npm run bench -- --lists` measures the lists, searches and statistics of the console on 5 million webhooks and on 5,000.
import type pg from 'pg';
import { median } from '../isolation/live-phases.ts';
import { p95 } from '../isolation/site.ts';
import { explain } from './explain.ts';
import { openFilled, type Filled } from './filled-database.ts';
import { projectId } from './load.ts';
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

const small = 5_000;
const rounds = 20;
const ratioMax = 5;
/** Below this the difference is of the machine. */
const noiseMs = 2;

/** Compares each query on `webhooks` rows with the same on 5,000. */
export async function measureLists(
  serverUrl: string,
  { webhooks, only, say }: { webhooks: number; only: readonly string[]; say: (line: string) => void },
): Promise<ListLine[]> {
  const tables = {
    small: await openFilled(serverUrl, { webhooks: small, say }),
    big: await openFilled(serverUrl, { webhooks, say }),
  };
  try {
    const [ofSmall, ofBig] = [
      queriesOf(await subjectOf(tables.small)),
      queriesOf(await subjectOf(tables.big)),
    ];
    const lines: ListLine[] = [];
    for (const [index, query] of ofBig.entries()) {
      if (only.length > 0 && !only.some((name) => query.name.includes(name))) continue;
      lines.push(await measure(tables, { ofSmall: ofSmall[index] as BenchQuery, ofBig: query }));
      say(`${query.name}: ${lines.at(-1)?.bigMs.toFixed(1)} ms`);
    }
    return lines;
  } finally {
    await Promise.all([tables.small.postgres.close(), tables.big.postgres.close()]);
  }
}

async function subjectOf({ postgres: { pool }, now }: Filled): Promise<Subject> {
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
  tables: { small: Filled; big: Filled },
  { ofSmall, ofBig }: { ofSmall: BenchQuery; ofBig: BenchQuery },
): Promise<ListLine> {
  const times = { small: [] as number[], big: [] as number[] };
  for (let round = -3; round < rounds; round += 1) {
    const smallMs = await timed(tables.small.postgres.pool, ofSmall);
    const bigMs = await timed(tables.big.postgres.pool, ofBig);
    if (round < 0) continue;
    times.small.push(smallMs);
    times.big.push(bigMs);
  }
  const [smallMs, bigMs] = [median(times.small), median(times.big)];
  const holds = Math.max(smallMs, bigMs) < ofBig.boundMs && bigMs <= ratioMax * Math.max(smallMs, noiseMs);
  const plans = await explain(tables.big.postgres.pool, ofBig.run);
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

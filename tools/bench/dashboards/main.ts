// `npm run bench -- --dashboards` runs the SQL of each panel of Grafana over a million webhooks of four months.
import { createWorld } from '@hqrelay/testing/world';
import pg from 'pg';
import { isSql, panels, sqlOf, type Panel } from '@hqrelay/testing/dashboards/panels';
import type { DurableServices } from '../../harness/durable-services.ts';
import { median } from '../isolation/live-phases.ts';
import { fillTables, type Filled } from './fill-tables.ts';

export type PanelLine = {
  panel: string;
  period: string;
  medianMs: number;
  maxMs: number;
  /** The months whose partitions the plan reads, such as `2026_11`. */
  months: readonly string[];
  /** Whether all of them lie in the period. */
  isPruned: boolean;
};

const hourMs = 3_600_000;
const periods = { '6 h': 6 * hourMs, '24 h': 24 * hourMs, '30 d': 720 * hourMs };
const runs = 5;
const webhooksOf = { full: 1_000_000, quick: 50_000 };

/** Measures the panels with all projects chosen, as the role that Grafana's user has. */
export async function measureDashboards(
  services: DurableServices,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<PanelLine[]> {
  const webhooks = quick ? webhooksOf.quick : webhooksOf.full;
  const world = await createWorld(services.urls);
  const pool = new pg.Pool({ connectionString: world.ownerDatabaseUrl, max: 1 });
  try {
    const now = Date.now();
    say(`filling the tables with ${webhooks} webhooks`);
    const filled = await fillTables(pool, { now, webhooks });
    await pool.query('set role hqrelay_reader');
    const lines: PanelLine[] = [];
    for (const panel of panels.filter(isSql)) {
      say(panel.title);
      for (const [period, lengthMs] of Object.entries(periods))
        lines.push({ panel: panel.title, period, ...(await measure(pool, panel, filled, now, lengthMs)) });
    }
    return lines;
  } finally {
    await pool.end();
    await world.close();
  }
}

async function measure(pool: pg.Pool, panel: Panel, filled: Filled, now: number, lengthMs: number) {
  const from = now - lengthMs;
  const sql = sqlOf(panel, { ...filled, from: new Date(from), to: new Date(now) }) ?? '';
  const months = await monthsReadBy(pool, sql);
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now();
    const { rowCount } = await pool.query(sql);
    if (!rowCount) throw new Error(`${panel.title} shows no row`);
    times.push(performance.now() - startedAt);
  }
  const [first, last] = [monthOf(from), monthOf(now)];
  return {
    medianMs: median(times),
    maxMs: Math.max(...times),
    months,
    isPruned: months.length > 0 && months.every((month) => month >= first && month <= last),
  };
}

const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7).replace('-', '_');

type PlanNode = { 'Relation Name'?: string; 'Actual Loops': number; Plans?: PlanNode[] };

async function monthsReadBy(pool: pg.Pool, sql: string): Promise<string[]> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, timing off, format json) ${sql}`,
  );
  const nodes = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
  // A partition that is ruled out while the statement runs is in the plan, too.
  const read = nodes.filter((node) => node['Actual Loops'] > 0);
  const months = read.flatMap((node) => /_(\d{4}_\d{2})$/.exec(node['Relation Name'] ?? '')?.[1] ?? []);
  return [...new Set(months)].toSorted();
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

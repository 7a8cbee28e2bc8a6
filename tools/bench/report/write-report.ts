import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { replaceTable } from '../../harness/replace-table.ts';
import { markdownTable } from '../../harness/table.ts';
import { cellsOf, type Figure } from '../summary.ts';
import { coreCells, coreLimitCells, costsOf, spikeCells } from './capacity.ts';
import { chartOf } from './chart.ts';

/** Writes the figures into a file of their own, with the machine that they were measured on. Returns its path. */
export async function writeResults(plan: object, figures: readonly Figure[]): Promise<string> {
  const at = new Date().toISOString();
  const folder = join(import.meta.dirname, '../results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${at.slice(0, 19).replaceAll(':', '-')}.json`);
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    node: process.version,
  };
  const json = await format(JSON.stringify({ at, machine, plan, figures }), { parser: 'json' });
  writeFileSync(file, json);
  return file;
}

/** Replaces the table and the chart in docs/performance.md, and what docs/capacity.md computes from the costs. */
export async function writeReport(figures: readonly Figure[]): Promise<void> {
  await replaceTable('docs/performance.md', 'bench', markdownTable(cellsOf(figures)));
  const chart = fileURLToPath(new URL('../../../docs/performance.svg', import.meta.url));
  writeFileSync(chart, chartOf(figures));
  const costs = costsOf(figures);
  await replaceTable('docs/capacity.md', 'cores', markdownTable(coreCells(costs)));
  await replaceTable('docs/capacity.md', 'limits', markdownTable(coreLimitCells(costs)));
  await replaceTable('docs/capacity.md', 'spike', markdownTable(spikeCells(costs)));
}

// `npm run chaos` runs the failure matrix, the attacks or the fuzz run. Exits 1 when a row is red or does not count.
import { join } from 'node:path';
import { copyBuiltApps } from '../harness/app-copy.ts';
import type { AppSource } from '@hqrelay/services/app-process';
import { withDurableServices, type DurableServices } from '../harness/durable-services.ts';
import { replaceTable } from '../harness/replace-table.ts';
import { markdownTable, plainTable } from '../harness/table.ts';
import { attackCells } from './attacks/attack-table.ts';
import { runAttacks } from './attacks/run-attacks.ts';
import { fuzzCells } from './fuzz/fuzz-table.ts';
import { runFuzz } from './fuzz/run-fuzz.ts';
import { readCommandLine, usage, type ChaosCommand } from './command-line.ts';
import { runGuardTrials, slowCommits } from './guards/trials.ts';
import { searchOrder } from './order/search-order.ts';
import type { RowResult } from './outcome/conclude.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { runRow } from './run-row.ts';
import { rowCells, trialsTable } from './table.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

const command = readCommandLine(process.argv.slice(2), rows);
switch (command.kind) {
  case 'wrong':
    say(`${command.message}\n\n${usage}`);
    process.exitCode = 2;
    break;
  case 'list':
    for (const row of rows) process.stdout.write(`${row.name.padEnd(30)}${row.fault}\n`);
    break;
  case 'guards':
    await withServices((services) => tryGuards(command, services), command);
    break;
  case 'attacks':
    await withServices((services) => attack(command, services), command);
    break;
  case 'fuzz':
    await withServices((services) => fuzz(command, services), command);
    break;
  case 'order':
    await withServices((services) => order(command, services), command);
    break;
  case 'run':
    await withServices((services) => runRows(command, services), command);
    break;
}

function withServices(
  work: (services: DurableServices) => Promise<boolean>,
  { kind, keepLogs }: { kind: 'run' | 'guards' | 'attacks' | 'fuzz' | 'order'; keepLogs: boolean },
): Promise<void> {
  const postgresSettings = kind === 'guards' ? slowCommits : [];
  return withDurableServices({ say, keepLogs, postgresSettings }, async (services) => {
    if (!(await work(services))) process.exitCode = 1;
  });
}

async function runRows(
  { rows, leftOut, previous, small, fromSource, write }: Extract<ChaosCommand, { kind: 'run' }>,
  services: DurableServices,
): Promise<boolean> {
  for (const { name } of leftOut) {
    say(`${name} does not run: it needs --previous FOLDER, a built checkout of the previous version`);
  }
  const apps = appsToRun(fromSource, services);
  const run = async (row: Row): Promise<RowResult> => {
    await services.restore();
    say(`\n${row.name}: ${row.fault}`);
    const startedAt = performance.now();
    const result = await runRow(row, {
      services,
      apps,
      previous,
      brief: small,
      // Small rows run beside the tests, which slow them down.
      withinMs: small ? 300_000 : 60_000,
      say: (line) => say(`  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${line}`),
    });
    sayOutcome(result);
    return result;
  };
  const results: RowResult[] = [];
  for (const row of rows) {
    const result = await run(row);
    // A row that did not count proves nothing, for example because the machine was busy, so it is run once more.
    results.push(result.outcome.kind === 'did not count' ? await run(row) : result);
  }
  const cells = rowCells(results);
  process.stdout.write(`\n${plainTable(cells, [(cells[0]?.length ?? 0) - 1])}\n`);
  if (write) await replaceTable('docs/failure-matrix.md', 'rows', markdownTable(cells));
  return results.every(({ outcome }) => outcome.kind === 'green');
}

function appsToRun(fromSource: boolean, { folder }: DurableServices): AppSource {
  return fromSource ? { kind: 'source' } : copyBuiltApps(join(folder, 'apps'));
}

async function attack(
  { attacks, previous, fromSource, write }: Extract<ChaosCommand, { kind: 'attacks' }>,
  services: DurableServices,
): Promise<boolean> {
  const apps: AppSource = previous
    ? { kind: 'built', folder: previous.folder }
    : appsToRun(fromSource, services);
  const run = await runAttacks({ services, apps, attacks, say });
  const cells = attackCells(run);
  process.stdout.write(`\n${plainTable(cells, [5])}\n`);
  for (const problem of run.problems) say(problem);
  if (write) await replaceTable('docs/security.md', 'attacks', markdownTable(cells));
  return run.problems.length === 0 && run.phases.every(({ problems }) => problems.length === 0);
}

async function fuzz(
  { seed, requests, fromSource, write }: Extract<ChaosCommand, { kind: 'fuzz' }>,
  services: DurableServices,
): Promise<boolean> {
  const run = await runFuzz({ services, apps: appsToRun(fromSource, services), seed, requests, say });
  for (const problem of run.problems.slice(0, 50)) say(problem);
  const cells = fuzzCells(run);
  process.stdout.write(`\n${plainTable(cells, [3])}\n`);
  if (write) await replaceTable('docs/security.md', 'fuzz', markdownTable(cells));
  return run.problems.length === 0;
}

async function order(
  { seed, path, schedules, fromSource }: Extract<ChaosCommand, { kind: 'order' }>,
  services: DurableServices,
): Promise<boolean> {
  say(`The seed is ${seed}`);
  return searchOrder({ services, apps: appsToRun(fromSource, services), seed, path, schedules, say });
}

async function tryGuards(
  { only, write }: Extract<ChaosCommand, { kind: 'guards' }>,
  services: DurableServices,
): Promise<boolean> {
  const trials = await runGuardTrials(services, rows, only, say);
  process.stdout.write(`\n${trialsTable(trials)}\n`);
  if (write) await replaceTable('docs/failure-matrix.md', 'guards', trialsTable(trials));
  return trials.every(({ passed }) => passed);
}

function sayOutcome({ outcome, hit, tookMs, row, duplicates }: RowResult): void {
  say(`  ${outcome.kind} after ${(tookMs / 1_000).toFixed(1)} s; ${hit}`);
  if (outcome.kind !== 'green') for (const reason of outcome.reasons) say(`    ${reason}`);
  if (duplicates > 0 && row.duplicatesBecause)
    say(`    ${duplicates} arrived twice: ${row.duplicatesBecause}`);
}

// `npm run chaos`: the failure matrix, executed. Exits 1 when a row is red or does not count.
import { join } from 'node:path';
import type { AppSource } from './app.ts';
import { copyBuiltApps } from './app-tree.ts';
import { readCommandLine, usage, type ChaosCommand } from './command-line.ts';
import { runGuardTrials, slowCommits } from './guard-trials.ts';
import { replaceTable } from './replace-table.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { runRow, type RowResult } from './run-row.ts';
import { startChaosServices, type ChaosServices } from './services.ts';
import { markdownTable, plainTable, trialsTable } from './table.ts';

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
  case 'run':
    await withServices((services) => runRows(command, services), command);
    break;
}

async function withServices(
  work: (services: ChaosServices) => Promise<boolean>,
  { kind, keepLogs }: { kind: 'run' | 'guards'; keepLogs: boolean },
): Promise<void> {
  say('Starting private, durable servers …');
  const services = await startChaosServices(say, kind === 'guards' ? { postgresSettings: slowCommits } : {});
  const stopAndExit = (signal: NodeJS.Signals) =>
    void services.stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  process.once('SIGINT', stopAndExit).once('SIGTERM', stopAndExit);
  try {
    if (!(await work(services))) process.exitCode = 1;
  } finally {
    await services.stop({ keepLogs });
  }
}

async function runRows(
  { rows, small, fromSource, write }: Extract<ChaosCommand, { kind: 'run' }>,
  services: ChaosServices,
): Promise<boolean> {
  const apps: AppSource = fromSource
    ? { kind: 'source' }
    : { kind: 'built', folder: copyBuiltApps(join(services.folder, 'apps')) };
  const run = async (row: Row): Promise<RowResult> => {
    await services.restore();
    say(`\n${row.name}: ${row.fault}`);
    const startedAt = performance.now();
    const result = await runRow(row, {
      services,
      apps,
      brief: small,
      // Beside tests that run at the same time all of it takes longer.
      withinMs: small ? 90_000 : 60_000,
      say: (line) => say(`  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${line}`),
    });
    sayVerdict(result);
    return result;
  };
  const results: RowResult[] = [];
  for (const row of rows) {
    const result = await run(row);
    // It proves nothing either way, as on a machine that is busy just now: once more, and that is what it is then.
    results.push(result.verdict.kind === 'did not count' ? await run(row) : result);
  }
  process.stdout.write(`\n${plainTable(results)}\n`);
  if (write) await replaceTable('docs/failure-matrix.md', 'rows', markdownTable(results));
  return results.every(({ verdict }) => verdict.kind === 'green');
}

async function tryGuards(
  { only, write }: Extract<ChaosCommand, { kind: 'guards' }>,
  services: ChaosServices,
): Promise<boolean> {
  const trials = await runGuardTrials(services, rows, only, say);
  process.stdout.write(`\n${trialsTable(trials)}\n`);
  if (write) await replaceTable('docs/failure-matrix.md', 'guards', trialsTable(trials));
  return trials.every(({ passed }) => passed);
}

function sayVerdict({ verdict, hit, tookMs, row, duplicates }: RowResult): void {
  say(`  ${verdict.kind} after ${(tookMs / 1_000).toFixed(1)} s; ${hit}`);
  if (verdict.kind !== 'green') for (const reason of verdict.reasons) say(`    ${reason}`);
  if (duplicates > 0 && row.duplicatesBecause)
    say(`    ${duplicates} arrived twice: ${row.duplicatesBecause}`);
}

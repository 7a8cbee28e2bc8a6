import type { Command } from 'commander';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { formatStatus } from '../output/format-status.ts';
import { printResult } from '../output/print.ts';
import { readStatus } from '../status/read-status.ts';

export function addStatus(program: Command, cli: Cli): void {
  program
    .command('status')
    .description(
      'dependencies, backlog, held deliveries, dead letters, clocks; exit code 1 while a dependency is down',
    )
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => showStatus(cli, options));
}

/** Prints the status in any case. Throws CommandFailure when a dependency is down, so that a script notices. */
async function showStatus(cli: Cli, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL', 'REDIS_URL', 'RABBITMQ_URL'], cli.env);
  const status = await readStatus(config);
  printResult(cli, options, status, () => formatStatus(status));
  const down = status.dependencies.filter(({ state }) => state === 'down').map(({ name }) => name);
  if (down.length > 0) throw new CommandFailure(`down: ${down.join(', ')}`);
}

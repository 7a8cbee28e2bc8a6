import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/endpoint-list';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { formatDuration, formatTable, printResult } from '../output/print.ts';

type Options = { project?: string; all?: boolean; json?: boolean };

export function addEndpointList(endpoint: Command, cli: Cli): void {
  endpoint
    .command('list')
    .description('the endpoints of one project, or of all')
    .option('--project <project-id>', 'the project', uuid)
    .option('--all', 'archived ones too')
    .option('--json', 'print one JSON value')
    .action((options: Options) => listEndpoints(cli, options));
}

async function listEndpoints(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const endpoints = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    queries.listEndpoints(pool, { projectId: options.project, archivedToo: options.all === true }),
  );
  printResult(cli, options, endpoints, () =>
    formatTable(
      ['ENDPOINT', 'PROJECT', 'STATE', 'BREAKER', 'HELD', 'URL', 'EVENTS', 'RETRIES', 'TIMEOUT'],
      endpoints.map((each) => [
        each.id,
        each.projectId,
        stateOf(each),
        breakerOf(each, Date.now()),
        heldOf(each),
        each.url,
        each.eventTypes.join(',') || 'all',
        each.retrySchedule.join(','),
        `${each.timeoutMs} ms`,
      ]),
      'There are no endpoints: hqrelay endpoint add --project ID --url URL adds one.',
    ),
  );
}

function stateOf(endpoint: queries.ListedEndpoint): string {
  const { enabled, disabledBy, disabledReason, paused, archivedAt } = endpoint;
  if (archivedAt) return 'archived';
  if (enabled) return paused ? 'paused' : 'enabled';
  const state = disabledBy === 'relay' ? 'disabled by the relay, still owed' : 'disabled';
  return disabledReason ? `${state}: ${disabledReason}` : state;
}

function breakerOf({ breaker }: queries.ListedEndpoint, now: number): string {
  const { state, failures, failingSince, probeAt } = breaker;
  if (failures === 0) return state;
  const failing = `${failures} failures in ${formatDuration(now - (failingSince?.getTime() ?? now))}`;
  if (state === 'closed') return `closed, ${failing}`;
  const waitMs = (probeAt?.getTime() ?? now) - now;
  return `${state}, ${failing}, tried ${waitMs > 0 ? `in ${formatDuration(waitMs)}` : 'with the next'}`;
}

function heldOf({ held }: queries.ListedEndpoint): string | null {
  const reasons = Object.entries(held).map(([reason, count]) => `${count} ${reason}`);
  return reasons.length === 0 ? null : reasons.join(', ');
}

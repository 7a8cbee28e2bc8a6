import { listAlertRules, type AlertRule } from '@hqrelay/db/queries/alert-rules';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { formatDuration, formatTable, formatTime, printResult } from '../output/print.ts';

type Options = { project?: string; json?: boolean };

export function addAlertList(alert: Command, cli: Cli): void {
  alert
    .command('list')
    .description('the alerts of one project, or of all, and whether their channels work')
    .option('--project <project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action((options: Options) => list(cli, options));
}

async function list(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const alerts = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    listAlertRules(pool, { projectId: options.project }),
  );
  printResult(cli, options, alerts, () =>
    formatTable(
      ['ALERT', 'PROJECT', 'ON', 'CHANNEL', 'TARGET', 'WINDOW', 'SNOOZED UNTIL', 'STATE'],
      alerts.map((each) => [
        each.id,
        each.projectId,
        each.kinds.join(','),
        each.channel,
        each.target,
        formatDuration(each.windowMs),
        each.snoozedUntil && each.snoozedUntil.getTime() > Date.now() ? each.snoozedUntil : null,
        stateOf(each),
      ]),
      'There are no alerts: hqrelay alert add --project ID --on dead_letter --email ADDRESS adds one.',
    ),
  );
}

function stateOf({ isBroken, failingSince, lastError, lastSentAt }: AlertRule): string {
  if (failingSince) {
    const state = isBroken ? 'broken' : 'failing';
    return `${state} since ${formatTime(failingSince)}: ${lastError ?? ''}`;
  }
  return lastSentAt ? `last sent ${formatTime(lastSentAt)}` : 'nothing sent yet';
}

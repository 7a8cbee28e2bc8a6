import { listProjects } from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { formatTable, printResult } from '../output/print.ts';

type Options = { all?: boolean; json?: boolean };

export function addProjectList(project: Command, cli: Cli): void {
  project
    .command('list')
    .description('all projects, the oldest first')
    .option('--all', 'archived ones too')
    .option('--json', 'print one JSON value')
    .action((options: Options) => list(cli, options));
}

async function list(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const projects = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    listProjects(pool, { archivedToo: options.all === true }),
  );
  printResult(cli, options, projects, () =>
    formatTable(
      ['PROJECT', 'NAME', 'PROVIDER', 'STATE', 'PER MINUTE', 'TIMESTAMP', 'CREATED'],
      projects.map((each) => [
        each.id,
        each.name,
        each.provider,
        each.archivedAt ? 'archived' : each.enabled ? 'enabled' : 'disabled',
        each.rateLimitPerMinute ?? 'unlimited',
        each.requireTimestamp ? 'required' : 'ignored',
        each.createdAt,
      ]),
      'There are no projects yet: hqrelay project create --name NAME makes one.',
    ),
  );
}

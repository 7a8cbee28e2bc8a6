import type { Command } from 'commander';
import * as queries from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Cli } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { formatTable, printResult } from '../output/print.ts';

export function addProjectList(project: Command, cli: Cli): void {
  project
    .command('list')
    .description('all projects, the oldest first')
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => listProjects(cli, options));
}

async function listProjects(cli: Cli, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(['DATABASE_URL'], cli.env);
  const projects = await withDatabase(config.databaseUrl, queries.listProjects);
  printResult(cli, options, projects, () =>
    formatTable(
      ['PROJECT', 'NAME', 'PROVIDER', 'ENABLED', 'PER MINUTE', 'TIMESTAMP', 'CREATED'],
      projects.map((each) => [
        each.id,
        each.name,
        each.provider,
        each.enabled,
        each.rateLimitPerMinute ?? 'unlimited',
        each.requireTimestamp ? 'required' : 'ignored',
        each.createdAt,
      ]),
      'There are no projects yet: hqrelay project create --name NAME makes one.',
    ),
  );
}

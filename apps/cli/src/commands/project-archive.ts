import { archiveProject } from '@hqrelay/actions/project/archive-project';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addProjectArchive(project: Command, cli: Cli): void {
  project
    .command('archive')
    .description('disable and hide the project and its endpoints, for good; its webhooks stay in the books')
    .argument('<project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action((projectId: string, options: { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => archiveProject(deps, projectId),
        (saved) =>
          `The project ${saved.name} is archived: its webhooks are answered 401, and nothing is sent to its endpoints any more.`,
      ),
    );
}

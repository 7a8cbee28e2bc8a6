import { changeProject } from '@hqrelay/actions/project/change-project';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addProjectDisable(project: Command, cli: Cli): void {
  project
    .command('disable')
    .description('answer 401 to every webhook of the project')
    .argument('<project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action((projectId: string, options: { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => changeProject(deps, projectId, 'disable', { enabled: false }),
        (saved) => `The project ${saved.name} is disabled: its webhooks are answered 401.`,
      ),
    );
}

import { changeProject } from '@hqrelay/actions/project/change-project';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { performAndPrint } from '../perform-and-print.ts';

export function addProjectEnable(project: Command, cli: Cli): void {
  project
    .command('enable')
    .description('accept webhooks again')
    .argument('<project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action((projectId: string, options: { json?: boolean }) =>
      performAndPrint(
        cli,
        options,
        (deps) => changeProject(deps, projectId, 'enable', { enabled: true }),
        (saved) => `The project ${saved.name} accepts webhooks.`,
      ),
    );
}

import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { saveProject } from '../config-change/save-project.ts';

/** `project enable` and `project disable`. */
export function addProjectSwitches(project: Command, cli: Cli): void {
  addSwitch(project, cli, {
    name: 'enable',
    description: 'take webhooks again',
    enabled: true,
    done: 'takes webhooks',
  });
  addSwitch(project, cli, {
    name: 'disable',
    description: 'answer 401 to every webhook of the project',
    enabled: false,
    done: 'is disabled: its webhooks are answered 401',
  });
}

function addSwitch(
  project: Command,
  cli: Cli,
  to: { name: string; description: string; enabled: boolean; done: string },
): void {
  project
    .command(to.name)
    .description(to.description)
    .argument('<project-id>', 'the project', uuid)
    .option('--json', 'print one JSON value')
    .action(async (projectId: string, options: { json?: boolean }) => {
      const saved = await saveProject(cli, projectId, { enabled: to.enabled });
      printResult(cli, options, saved, () => `The project ${saved.name} ${to.done}.`);
    });
}

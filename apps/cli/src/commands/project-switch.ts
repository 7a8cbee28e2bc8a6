import type { ActionDeps, ActionResult } from '@hqrelay/actions/action';
import { archiveProject } from '@hqrelay/actions/project/archive-project';
import { changeProject } from '@hqrelay/actions/project/change-project';
import type { Project } from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Switch = {
  name: string;
  description: string;
  action: (deps: ActionDeps, projectId: string) => Promise<ActionResult<Project>>;
  done: string;
};

const switches: readonly Switch[] = [
  {
    name: 'enable',
    description: 'accept webhooks again',
    action: (deps, projectId) => changeProject(deps, projectId, 'enable', { enabled: true }),
    done: 'accepts webhooks',
  },
  {
    name: 'disable',
    description: 'answer 401 to every webhook of the project',
    action: (deps, projectId) => changeProject(deps, projectId, 'disable', { enabled: false }),
    done: 'is disabled: its webhooks are answered 401',
  },
  {
    name: 'archive',
    description: 'disable and hide the project and its endpoints, for good; its webhooks stay in the books',
    action: archiveProject,
    done: 'is archived: its webhooks are answered 401, and nothing is sent to its endpoints any more',
  },
];

/** `project enable`, `disable` and `archive`. */
export function addProjectSwitches(project: Command, cli: Cli): void {
  for (const each of switches) {
    project
      .command(each.name)
      .description(each.description)
      .argument('<project-id>', 'the project', uuid)
      .option('--json', 'print one JSON value')
      .action(async (projectId: string, options: { json?: boolean }) => {
        const config = loadConfig(actionVariables, cli.env);
        const project = await performAction(cli, config, (deps) => each.action(deps, projectId));
        printResult(cli, options, project, () => `The project ${project.name} ${each.done}.`);
      });
  }
}

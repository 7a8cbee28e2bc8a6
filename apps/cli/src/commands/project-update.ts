import type { Command } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { label, uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { addProjectOptions, projectChanges, type ProjectOptions } from '../options/project-options.ts';
import { saveProject } from '../config-change/save-project.ts';

type Options = ProjectOptions & { name?: string; json?: boolean };

export function addProjectUpdate(project: Command, cli: Cli): void {
  const command = project
    .command('update')
    .description('change what is given, and nothing else')
    .argument('<project-id>', 'the project', uuid)
    .option('--name <name>', 'what people call it', label(200));
  addProjectOptions(command)
    .option('--no-require-timestamp', 'signatures cover the body alone')
    .option('--json', 'print one JSON value')
    .action((projectId: string, options: Options) => updateProject(cli, projectId, options));
}

async function updateProject(cli: Cli, projectId: string, options: Options): Promise<void> {
  const changes = { ...(options.name !== undefined && { name: options.name }), ...projectChanges(options) };
  if (Object.keys(changes).length === 0) {
    throw new UsageError('nothing to change: give at least one option, see hqrelay project update --help');
  }
  const project = await saveProject(cli, projectId, changes);
  printResult(cli, options, project, () => `Updated the project ${project.name}.`);
}

import { changeProject } from '@hqrelay/actions/project/change-project';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { label, uuid } from '../options/options.ts';
import { addProjectOptions, projectSettings, type ProjectOptions } from '../options/project-options.ts';
import { addProviderOptions, readScheme, type ProviderOptions } from '../options/provider-options.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = ProjectOptions & ProviderOptions & { name?: string; json?: boolean };

export function addProjectUpdate(project: Command, cli: Cli): void {
  const command = project
    .command('update')
    .description('change what is given, and nothing else')
    .argument('<project-id>', 'the project', uuid)
    .option('--name <name>', 'what people call it', label(200));
  addProviderOptions(addProjectOptions(command))
    .option('--no-scheme', "verify as the provider's preset says")
    .option('--no-search-key', 'index no value of payloads any more')
    .option('--no-require-timestamp', 'signatures cover the body alone')
    .option('--json', 'print one JSON value')
    .action((projectId: string, options: Options) => update(cli, projectId, options));
}

async function update(cli: Cli, projectId: string, options: Options): Promise<void> {
  const settings = {
    ...(options.name !== undefined && { name: options.name }),
    ...projectSettings(options),
    ...(await readScheme(cli, options)),
    ...(options.setting && { providerSettings: options.setting }),
  };
  if (Object.keys(settings).length === 0) {
    throw new UsageError('nothing to change: give at least one option, see hqrelay project update --help');
  }
  const config = loadConfig(actionVariables, cli.env);
  const project = await performAction(cli, config, (deps) =>
    changeProject(deps, projectId, 'update', settings),
  );
  printResult(cli, options, project, () => `Updated the project ${project.name}.`);
}

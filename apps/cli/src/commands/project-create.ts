import { createProject } from '@hqrelay/actions/project/create-project';
import type { Preset } from '@hqrelay/domain/providers/preset';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { webhookUrl } from '../config.ts';
import { addSecretOptions, readGivenSecret, type SecretOptions } from '../options/given-secret.ts';
import { label } from '../options/options.ts';
import { addProjectOptions, projectSettings, type ProjectOptions } from '../options/project-options.ts';
import {
  addProviderOptions,
  providerOption,
  readScheme,
  type ProviderOptions,
} from '../options/provider-options.ts';
import { formatSetUp, formatStrength, urlWarnings } from '../output/format-provider.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = ProjectOptions &
  SecretOptions &
  ProviderOptions & { name: string; provider: Preset; json?: boolean };

export function addProjectCreate(project: Command, cli: Cli): void {
  const command = project
    .command('create')
    .description('create a project, and print its webhook URL and its secret')
    .requiredOption('--name <name>', 'what people call it', label(200))
    .addOption(providerOption());
  addProviderOptions(addProjectOptions(addSecretOptions(command)))
    .option('--json', 'print one JSON value')
    .action((options: Options) => create(cli, options));
}

async function create(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(
    [...actionVariables, 'HQRELAY_SECRETS_KEY', 'PUBLIC_URL', 'RECEIVER_PORT'],
    cli.env,
  );
  const { name, provider: preset, setting: providerSettings } = options;
  const given = await readGivenSecret(cli, options);
  const settings = { ...projectSettings(options), ...(await readScheme(cli, options)) };
  const { project, secret } = await performAction(cli, config, (deps) =>
    createProject(deps, { name, provider: preset.name, settings, providerSettings, secret: given }),
  );
  const created = { projectId: project.id, webhookUrl: webhookUrl(config, project.id), secret };
  for (const warning of urlWarnings(preset, created.webhookUrl, config)) cli.warn(`warning: ${warning}\n`);
  printResult(cli, options, created, () => {
    const fields = {
      'project id': created.projectId,
      'webhook URL': created.webhookUrl,
      secret: created.secret,
    };
    const intro = `Created the project ${name}. Its secret is shown this once only.`;
    const steps = formatSetUp(preset, created);
    return `${intro}\n${formatFields(fields)}\n\n${steps}\n\n${formatStrength(preset, settings.scheme)}`;
  });
}

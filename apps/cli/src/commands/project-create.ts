import { createProject } from '@hqrelay/actions/project/create-project';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { webhookUrl } from '../config.ts';
import { addSecretOptions, readGivenSecret, type SecretOptions } from '../options/given-secret.ts';
import { label, parsedBy } from '../options/options.ts';
import { addProjectOptions, projectSettings, type ProjectOptions } from '../options/project-options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = ProjectOptions & SecretOptions & { name: string; provider: string; json?: boolean };

const providers = ['generic'];

export function addProjectCreate(project: Command, cli: Cli): void {
  const command = project
    .command('create')
    .description('create a project, and print its webhook URL and its secret')
    .requiredOption('--name <name>', 'what people call it', label(200))
    .option('--provider <provider>', 'how the sender signs', parsedBy(parseProvider), 'generic');
  addProjectOptions(addSecretOptions(command))
    .option('--json', 'print one JSON value')
    .action((options: Options) => create(cli, options));
}

async function create(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(
    [...actionVariables, 'HQRELAY_SECRETS_KEY', 'PUBLIC_URL', 'RECEIVER_PORT'],
    cli.env,
  );
  const { name, provider } = options;
  const given = await readGivenSecret(cli, options);
  const { project, secret } = await performAction(cli, config, (deps) =>
    createProject(deps, { name, provider, settings: projectSettings(options), secret: given }),
  );
  const created = { projectId: project.id, webhookUrl: webhookUrl(config, project.id), secret };
  printResult(cli, options, created, () => {
    const fields = {
      'project id': created.projectId,
      'webhook URL': created.webhookUrl,
      secret: created.secret,
    };
    return `Created the project ${name}. Its secret is shown this once only.\n${formatFields(fields)}`;
  });
}

function parseProvider(text: string): string {
  if (!providers.includes(text)) throw new RangeError(`expected ${providers.join(' or ')}`);
  return text;
}

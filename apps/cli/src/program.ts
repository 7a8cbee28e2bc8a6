import { Command, CommanderError } from 'commander';
import { ConfigError } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure, UsageError } from './cli.ts';
import { addDlqList } from './commands/dlq-list.ts';
import { addDlqReplay } from './commands/dlq-replay.ts';
import { addEndpointAdd } from './commands/endpoint-add.ts';
import { addEndpointList } from './commands/endpoint-list.ts';
import { addEndpointRotateSecret } from './commands/endpoint-rotate-secret.ts';
import { addEndpointSwitches } from './commands/endpoint-switch.ts';
import { addEndpointTest } from './commands/endpoint-test.ts';
import { addEndpointUpdate } from './commands/endpoint-update.ts';
import { addMigrate } from './commands/migrate.ts';
import { addProjectCreate } from './commands/project-create.ts';
import { addProjectList } from './commands/project-list.ts';
import { addProjectSwitches } from './commands/project-switch.ts';
import { addProjectUpdate } from './commands/project-update.ts';
import { addReplay } from './commands/replay.ts';
import { addReplayJobs } from './commands/replay-job.ts';
import { addSecretList } from './commands/secret-list.ts';
import { addSecretRevoke } from './commands/secret-revoke.ts';
import { addSecretRotate } from './commands/secret-rotate.ts';
import { addSecretsReseal } from './commands/secrets-reseal.ts';
import { addSend } from './commands/send.ts';
import { addWebhookList } from './commands/webhook-list.ts';
import { addWebhookShow } from './commands/webhook-show.ts';

/** Runs one command line (without the program's name) and returns its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(argv: readonly string[], cli: Cli): Promise<number> {
  try {
    await createProgram(cli).parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const isExpected =
      error instanceof UsageError || error instanceof CommandFailure || error instanceof ConfigError;
    cli.warn(`error: ${isExpected ? error.message : describeBug(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function createProgram(cli: Cli): Command {
  const program = new Command('hqrelay')
    .description('The command line of HQRelay. Every command takes --json, which prints one JSON value.')
    .exitOverride()
    .configureOutput({ writeOut: cli.print, writeErr: cli.warn })
    .showSuggestionAfterError(true);

  const project = program.command('project').description('customers: their limits and how they sign');
  addProjectCreate(project, cli);
  addProjectList(project, cli);
  addProjectUpdate(project, cli);
  addProjectSwitches(project, cli);

  const secret = program.command('secret').description('what a provider signs with');
  addSecretRotate(secret, cli);
  addSecretList(secret, cli);
  addSecretRevoke(secret, cli);
  addSecretsReseal(program, cli);

  const endpoint = program.command('endpoint').description('where webhooks are delivered to');
  addEndpointAdd(endpoint, cli);
  addEndpointList(endpoint, cli);
  addEndpointUpdate(endpoint, cli);
  addEndpointTest(endpoint, cli);
  addEndpointSwitches(endpoint, cli);
  addEndpointRotateSecret(endpoint, cli);

  addSend(program, cli);

  const webhook = program.command('webhook').description('what came in, and what became of it');
  addWebhookList(webhook, cli);
  addWebhookShow(webhook, cli);

  const dlq = program.command('dlq').description('dead letters: what could not be delivered');
  addDlqList(dlq, cli);
  addDlqReplay(dlq, cli);
  addReplay(program, cli);
  addReplayJobs(
    program.command('replay-job').description('replays of many deliveries, as workers run them'),
    cli,
  );

  addMigrate(program, cli);
  return program;
}

function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

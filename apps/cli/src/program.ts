import { Command, CommanderError } from 'commander';
import { ConfigError } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure, UsageError } from './cli.ts';
import { addAlertAdd } from './commands/alert-add.ts';
import { addAlertList } from './commands/alert-list.ts';
import { addAlertRemove } from './commands/alert-remove.ts';
import { addAlertSnooze } from './commands/alert-snooze.ts';
import { addAlertTest } from './commands/alert-test.ts';
import { addApiKeyCreate } from './commands/api-key-create.ts';
import { addApiKeyList } from './commands/api-key-list.ts';
import { addApiKeyRevoke } from './commands/api-key-revoke.ts';
import { addConsoleLink } from './commands/console-link.ts';
import { addDeliveryCancel } from './commands/delivery-cancel.ts';
import { addDeliveryRetryNow } from './commands/delivery-retry-now.ts';
import { addDlqList } from './commands/dlq-list.ts';
import { addDlqReplay } from './commands/dlq-replay.ts';
import { addDlqSkip } from './commands/dlq-skip.ts';
import { addEndpointAdd } from './commands/endpoint-add.ts';
import { addEndpointArchive } from './commands/endpoint-archive.ts';
import { addEndpointDisable } from './commands/endpoint-disable.ts';
import { addEndpointEnable } from './commands/endpoint-enable.ts';
import { addEndpointList } from './commands/endpoint-list.ts';
import { addEndpointPause } from './commands/endpoint-pause.ts';
import { addEndpointResume } from './commands/endpoint-resume.ts';
import { addEndpointRotateSecret } from './commands/endpoint-rotate-secret.ts';
import { addEndpointTest } from './commands/endpoint-test.ts';
import { addEndpointUpdate } from './commands/endpoint-update.ts';
import { addErase } from './commands/erase.ts';
import { addInsights } from './commands/insights.ts';
import { addMigrate } from './commands/migrate.ts';
import { addProjectArchive } from './commands/project-archive.ts';
import { addProjectCreate } from './commands/project-create.ts';
import { addProjectDisable } from './commands/project-disable.ts';
import { addProjectEnable } from './commands/project-enable.ts';
import { addProjectList } from './commands/project-list.ts';
import { addProjectUpdate } from './commands/project-update.ts';
import { addProviderList } from './commands/provider-list.ts';
import { addProviderShow } from './commands/provider-show.ts';
import { addReplay } from './commands/replay.ts';
import { addReplayJobCancel } from './commands/replay-job-cancel.ts';
import { addReplayJobList } from './commands/replay-job-list.ts';
import { addReplayJobShow } from './commands/replay-job-show.ts';
import { addSecretList } from './commands/secret-list.ts';
import { addSecretRevoke } from './commands/secret-revoke.ts';
import { addSecretRotate } from './commands/secret-rotate.ts';
import { addSecretsReseal } from './commands/secrets-reseal.ts';
import { addSend } from './commands/send.ts';
import { addStatus } from './commands/status.ts';
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
  for (const { noun, description, commands } of nouns) {
    const parent = program.command(noun).description(description);
    for (const add of commands) add(parent, cli);
  }
  for (const add of [addStatus, addSecretsReseal, addSend, addReplay, addErase, addInsights, addMigrate])
    add(program, cli);
  return program;
}

type Noun = { noun: string; description: string; commands: ((parent: Command, cli: Cli) => void)[] };

const nouns: readonly Noun[] = [
  {
    noun: 'project',
    description: 'customers: their limits and how they sign',
    commands: [
      addProjectCreate,
      addProjectList,
      addProjectUpdate,
      addProjectEnable,
      addProjectDisable,
      addProjectArchive,
    ],
  },
  {
    noun: 'provider',
    description: 'the senders of webhooks that the relay knows',
    commands: [addProviderList, addProviderShow],
  },
  {
    noun: 'secret',
    description: 'the secrets that providers sign with',
    commands: [addSecretRotate, addSecretList, addSecretRevoke],
  },
  {
    noun: 'endpoint',
    description: 'the URLs that webhooks are delivered to',
    commands: [
      addEndpointAdd,
      addEndpointList,
      addEndpointUpdate,
      addEndpointTest,
      addEndpointPause,
      addEndpointResume,
      addEndpointEnable,
      addEndpointDisable,
      addEndpointArchive,
      addEndpointRotateSecret,
    ],
  },
  {
    noun: 'webhook',
    description: 'accepted requests, and their deliveries',
    commands: [addWebhookList, addWebhookShow],
  },
  {
    noun: 'delivery',
    description: 'webhooks on their way to one endpoint each',
    commands: [addDeliveryRetryNow, addDeliveryCancel],
  },
  {
    noun: 'dlq',
    description: 'dead letters: deliveries that used up their schedule',
    commands: [addDlqList, addDlqReplay, addDlqSkip],
  },
  {
    noun: 'replay-job',
    description: 'replays of many deliveries, as workers run them',
    commands: [addReplayJobList, addReplayJobShow, addReplayJobCancel],
  },
  {
    noun: 'alert',
    description: 'who is told when something is wrong, by e-mail, callback or Slack',
    commands: [addAlertAdd, addAlertList, addAlertTest, addAlertSnooze, addAlertRemove],
  },
  {
    noun: 'api-key',
    description: 'the keys of programs that use the HTTP API',
    commands: [addApiKeyCreate, addApiKeyList, addApiKeyRevoke],
  },
  {
    noun: 'console',
    description: 'the web console, and who signs in to it',
    commands: [addConsoleLink],
  },
];

function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

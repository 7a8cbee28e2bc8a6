import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { routes } from '../src/routes/routes.ts';

/** The operation that does what a command does, or why there is none. */
const operationOf: Readonly<Record<string, { operations: readonly string[] } | { none: string }>> = {
  'alert-add': { operations: ['addAlert'] },
  'alert-list': { operations: ['listAlerts', 'updateAlert', 'listAlertMessages'] },
  'alert-remove': { operations: ['removeAlert'] },
  'alert-snooze': { operations: ['snoozeAlert'] },
  'alert-test': { operations: ['testAlert'] },
  'api-key-create': { operations: ['createApiKey'] },
  'api-key-list': { operations: ['listApiKeys'] },
  'api-key-revoke': { operations: ['revokeApiKey'] },
  'delivery-cancel': { operations: ['cancelDelivery'] },
  'delivery-retry-now': { operations: ['retryDeliveryNow'] },
  'dlq-list': { operations: ['listDeadLetters'] },
  'dlq-skip': { operations: ['cancelDelivery'] },
  'dlq-replay': { operations: ['createReplay'] },
  'endpoint-add': { operations: ['addEndpoint'] },
  'endpoint-archive': { operations: ['archiveEndpoint'] },
  'endpoint-disable': { operations: ['disableEndpoint'] },
  'endpoint-enable': { operations: ['enableEndpoint'] },
  'endpoint-list': { operations: ['listEndpoints', 'getEndpoint'] },
  'endpoint-pause': { operations: ['pauseEndpoint'] },
  'endpoint-resume': { operations: ['resumeEndpoint'] },
  'endpoint-rotate-secret': { operations: ['rotateEndpointSecret'] },
  'endpoint-test': { operations: ['testEndpoint'] },
  'endpoint-update': { operations: ['updateEndpoint'] },
  erase: { none: 'it asks RabbitMQ for messages of the webhook, and the console has no connection to it' },
  migrate: { none: 'it needs the owner of the schema' },
  'project-archive': { operations: ['archiveProject'] },
  'project-create': { operations: ['createProject'] },
  'project-disable': { operations: ['updateProject'] },
  'project-enable': { operations: ['updateProject'] },
  'project-list': { operations: ['listProjects', 'getProject'] },
  'project-update': { operations: ['updateProject'] },
  'provider-list': { none: 'presets are constants of the program' },
  'provider-show': { none: 'presets are constants of the program' },
  replay: { operations: ['replayWebhook', 'createReplay'] },
  'replay-job-cancel': { operations: ['cancelReplayJob'] },
  'replay-job-list': { operations: ['listReplayJobs'] },
  'replay-job-show': { operations: ['getReplayJob'] },
  'secret-list': { operations: ['listSecrets'] },
  'secret-revoke': { operations: ['revokeSecret'] },
  'secret-rotate': { operations: ['rotateSecret'] },
  'secrets-reseal': { none: 'it takes the old and the new HQRELAY_SECRETS_KEY' },
  send: { none: 'it plays the part of the provider' },
  status: { none: 'it asks the stores of every app; /health/ready has those of the console' },
  'webhook-list': { operations: ['listWebhooks'] },
  'webhook-show': { operations: ['getWebhook', 'getPayload'] },
};

/** Commands of console links and insights, which their own tests compare. */
const otherNouns = /^(?:console|insights)/;

const commands = readdirSync(new URL('../../cli/src/commands', import.meta.url))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((command) => !otherNouns.test(command));

it('every command of the command line has an operation of the API, or a reason why it has none', () => {
  expect(commands.length).toBeGreaterThan(30);
  expect(commands.filter((command) => operationOf[command] === undefined)).toEqual([]);
});

it.each(Object.entries(operationOf))('the command %s names operations that exist', (_command, known) => {
  const names = new Set(routes.map(({ name }) => name));
  const operations = 'none' in known ? [] : known.operations;
  expect(operations.filter((operation) => !names.has(operation))).toEqual([]);
});

import { disableEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { changeCommand, endpointTarget } from '../change-command.ts';
import { label } from '../options/options.ts';

export const addEndpointDisable = changeCommand({
  verb: 'disable',
  description: 'owe it no new webhooks, and hold the deliveries that it is owed already',
  target: endpointTarget,
  addOptions: (command) =>
    command.option(
      '--reason <text>',
      'the reason that endpoint list shows',
      label(200),
      'disabled by an operator',
    ),
  action: (deps, id, { reason }: { reason: string }) => disableEndpoint(deps, id, reason),
  sentence: (saved) => `The endpoint ${redactUrl(saved.url)} is disabled: it is owed no new webhooks.`,
});

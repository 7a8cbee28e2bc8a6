import { pauseEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { changeCommand, endpointTarget } from '../change-command.ts';

export const addEndpointPause = changeCommand({
  verb: 'pause',
  description: 'hold deliveries until the endpoint is resumed',
  target: endpointTarget,
  action: pauseEndpoint,
  sentence: (saved) => `The endpoint ${redactUrl(saved.url)} is paused: its deliveries are held.`,
});

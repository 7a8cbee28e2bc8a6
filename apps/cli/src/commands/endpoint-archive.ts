import { archiveEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { changeCommand, endpointTarget } from '../change-command.ts';

export const addEndpointArchive = changeCommand({
  verb: 'archive',
  description: 'disable and hide it, for good; what it is owed stays held and in the books',
  target: endpointTarget,
  action: archiveEndpoint,
  sentence: (saved) => `The endpoint ${redactUrl(saved.url)} is archived: nothing is sent to it any more.`,
});

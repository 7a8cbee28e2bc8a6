import { resumeEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { changeCommand, endpointTarget } from '../change-command.ts';
import { addReleaseRateOption, describeRelease, type ReleaseRateOption } from '../options/release-rate.ts';

export const addEndpointResume = changeCommand({
  verb: 'resume',
  description: 'end a pause; held deliveries are released, oldest first, beside new ones',
  target: endpointTarget,
  addOptions: addReleaseRateOption,
  action: (deps, id, { rate }: ReleaseRateOption) => resumeEndpoint(deps, id, { releaseRate: rate }),
  sentence: (saved) =>
    `The endpoint ${redactUrl(saved.url)} is not paused any more. ${describeRelease(saved)}`,
});

import { enableEndpoint } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { changeCommand, endpointTarget } from '../change-command.ts';
import { addReleaseRateOption, describeRelease, type ReleaseRateOption } from '../options/release-rate.ts';

export const addEndpointEnable = changeCommand({
  verb: 'enable',
  description: 'owe it webhooks again; held deliveries are released, oldest first',
  target: endpointTarget,
  addOptions: addReleaseRateOption,
  action: (deps, id, { rate }: ReleaseRateOption) => enableEndpoint(deps, id, { releaseRate: rate }),
  sentence: (saved) => `The endpoint ${redactUrl(saved.url)} is enabled. ${describeRelease(saved)}`,
});

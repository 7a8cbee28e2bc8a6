import { Webhook } from 'standardwebhooks';
import { standardWebhooksCase } from '../standard-webhooks-case.ts';

export const providerCase = standardWebhooksCase({
  prefix: 'webhook',
  sdkName: 'standardwebhooks',
  Webhook,
  vectorSource: 'github.com/standard-webhooks/standard-webhooks, libraries: the test "sign function works"',
});

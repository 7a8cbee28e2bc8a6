import { Webhook } from 'svix';
import { standardWebhooksCase } from '../standard-webhooks-case.ts';

export const providerCase = standardWebhooksCase({
  prefix: 'svix',
  sdkName: 'svix',
  Webhook,
  vectorSource: 'docs.svix.com/receiving/verifying-payloads/how-manual',
});

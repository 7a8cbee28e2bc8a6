import { newId } from '@hqrelay/domain/ids';
import { expect, it } from 'vitest';
import { formatWebhook } from './format-webhook.ts';

const now = Date.UTC(2026, 0, 1);

const tooLarge: Parameters<typeof formatWebhook>[0] = {
  webhook: {
    id: newId(now),
    projectId: newId(now),
    projectName: 'Acme',
    webhookId: 'evt_1',
    eventType: null,
    status: 'rejected',
    reason: 'body.too_large',
    endpointIds: [],
    duplicateOf: null,
    payloadSha256: null,
    payloadBytes: 2_000_000,
    remoteAddr: '192.0.2.7',
    correlationId: 'correlation-1',
    requestCount: 1,
    receivedAt: new Date(now),
  },
  payload: null,
  deliveries: [],
  attempts: [],
  replays: [],
};

it('a webhook whose body was not read to its end is shown without a hash of the body', () => {
  const lines = formatWebhook(tooLarge, now).split('\n');
  expect(lines.find((line) => line.trimStart().startsWith('body'))).toMatch(/body +2000000 bytes$/);
});

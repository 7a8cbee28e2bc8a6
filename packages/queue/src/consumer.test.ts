import { expect, it } from 'vitest';
import { unacknowledgedMsMax } from './consumer.ts';

it('a consumer finishes every message before the broker takes it back', () => {
  const brokerConsumerTimeoutMs = 30 * 60_000;
  // It looks once a minute, and takes away all that the channel holds.
  expect(unacknowledgedMsMax + 60_000).toBeLessThan(brokerConsumerTimeoutMs);
});

import { expect, it } from 'vitest';
import { unacknowledgedMsMax } from './consumer.ts';

it('a consumer finishes every message before the broker requeues it', () => {
  const brokerConsumerTimeoutMs = 30 * 60_000;
  // The broker checks once a minute, and then requeues every message of the channel.
  expect(unacknowledgedMsMax + 60_000).toBeLessThan(brokerConsumerTimeoutMs);
});

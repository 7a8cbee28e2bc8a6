import { expect, it } from 'vitest';
import { explainWait } from './explain-wait.ts';

const at = (time: string) => `the time ${time}`;
const held = (heldReason: 'paused' | 'disabled' | 'order') => ({
  state: 'held' as const,
  heldReason,
  attempts: 1,
});

it('a delivery to a paused endpoint says who paused it, and when', () => {
  const change = { actor: 'session:ann', at: 'T' };
  expect(explainWait(held('paused'), undefined, change, at)).toBe(
    'Held: the endpoint is paused by session:ann at the time T. Resume it to deliver.',
  );
});

it('a pause whose entry is not in the admin log is told without its author', () => {
  expect(explainWait(held('paused'), undefined, undefined, at)).toContain('is paused. Resume');
});

it('a delivery to a disabled endpoint says the reason', () => {
  const endpoint = { disabledReason: 'answered 410 Gone', orderingKey: null };
  expect(explainWait(held('disabled'), endpoint, undefined, at)).toContain('(answered 410 Gone)');
});

it('a delivery behind another one names the ordering key', () => {
  const endpoint = { disabledReason: null, orderingKey: '/order_id' };
  expect(explainWait(held('order'), endpoint, undefined, at)).toContain('(/order_id)');
});

it('a delivered delivery waits for nothing', () => {
  const delivered = { state: 'delivered' as const, heldReason: null, attempts: 1 };
  expect(explainWait(delivered, undefined, undefined, at)).toBeUndefined();
});

import { expect, it } from 'vitest';
import { heldText } from './held-text.ts';

it('held deliveries are told by reason', () => {
  expect(heldText({ held: { delay: 3, breaker: 1_200 }, heldCapped: false })).toBe(
    '1,200 held by its breaker, 3 until they are due',
  );
});

it('a count that ended early says so', () => {
  expect(heldText({ held: { paused: 10_000 }, heldCapped: true })).toBe('10,000+ held while it is paused');
});

it('an endpoint without held deliveries has no text', () => {
  expect(heldText({ held: {}, heldCapped: false })).toBe('');
});

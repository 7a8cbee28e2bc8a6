import type { Endpoint } from '../api/entities.ts';
import { formatCount } from '../display/number-format.ts';

const reasons = {
  paused: 'while it is paused',
  disabled: 'while it is disabled',
  breaker: 'by its breaker',
  order: 'behind another of their key',
  delay: 'until they are due',
} as const;

/** `12 held by its breaker, 3 until they are due`; empty where none is held. */
export function heldText({ held, heldCapped }: Pick<Endpoint, 'held' | 'heldCapped'>): string {
  const parts = Object.entries(reasons).flatMap(([reason, text]) => {
    const count = held[reason as keyof typeof reasons] ?? 0;
    return count === 0 ? [] : [{ count, text }];
  });
  return parts
    .map(({ count, text }, at) => `${formatCount(count, heldCapped)} ${at === 0 ? 'held ' : ''}${text}`)
    .join(', ');
}

import type { BodyLimits } from '../http/body/read-body.ts';

const mib = 1 << 20;

/** What the bodies of a receiver may hold. The large ones are copied several times, and then hold more than this. */
export function bodyLimitsFor(bodyBytesMax: number): BodyLimits {
  return {
    bodyBytesMax,
    heldBytesMax: 256 * mib,
    largeBytesMax: Math.max(32 * mib, 4 * bodyBytesMax),
    roomWithinMs: 1_000,
    slowAfterMs: 1_000,
    // Senders give up at 3 s.
    deadlineMs: 5_000,
  };
}

import fc from 'fast-check';

const keys = ['a', 'b', 'c'] as const;
export const orderFaults = [
  'worker killed',
  'worker leaves',
  'receiver killed',
  'RabbitMQ killed',
  'RabbitMQ stopped',
  'Postgres stopped',
] as const;

/** Breaks a part of the site `atMs` after the start of the round, and repairs it `forMs` later. */
export type OrderFault = { what: (typeof orderFaults)[number]; which: number; atMs: number; forMs: number };

export type Answer = 'takes' | 'refuses' | 'hangs' | 'resets' | 'is slow';

/** The webhooks for one ordered endpoint, and its answers to its first requests; it takes all later ones. */
export type Traffic = {
  /** `afterMs`: since the webhook before. A webhook waits for the 202 of the one before of its key. */
  webhooks: readonly { key: (typeof keys)[number]; afterMs: number }[];
  answers: readonly Answer[];
};

/** Schedules that share a site: the traffic of several endpoints under the same faults. */
export type Round = { faults: readonly OrderFault[]; traffics: readonly Traffic[] };

export const schedulesPerRound = 10;

const fault: fc.Arbitrary<OrderFault> = fc.record({
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant('worker killed' as const) },
    ...orderFaults.slice(1).map((what) => ({ weight: 1, arbitrary: fc.constant(what) })),
  ),
  which: fc.nat(2),
  atMs: fc.nat(4_000),
  forMs: fc.integer({ min: 100, max: 3_000 }),
});

const traffic: fc.Arbitrary<Traffic> = fc.record({
  webhooks: fc.array(fc.record({ key: fc.constantFrom(...keys), afterMs: fc.nat(400) }), {
    minLength: 1,
    maxLength: 30,
    size: 'max',
  }),
  answers: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant('takes' as const) },
      { weight: 2, arbitrary: fc.constant('refuses' as const) },
      { weight: 2, arbitrary: fc.constant('is slow' as const) },
      { weight: 1, arbitrary: fc.constantFrom('hangs' as const, 'resets' as const) },
    ),
    { maxLength: 15, size: 'max' },
  ),
});

export const round: fc.Arbitrary<Round> = fc.record({
  faults: fc.array(fault, { minLength: 1, maxLength: 5, size: 'max' }),
  traffics: fc.array(traffic, { minLength: schedulesPerRound, maxLength: schedulesPerRound }),
});

/** The faults of a round on one line. */
export function describeFaults({ faults }: Round): string {
  return faults
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ what, which, atMs, forMs }) => `${what} (${which}) at ${atMs} ms for ${forMs} ms`)
    .join(', ');
}

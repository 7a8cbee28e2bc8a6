import { describeExploration, explore } from '@hqrelay/testing/explore';
import type { Faults, Rules, Scenario } from '@hqrelay/testing/reservation/model-state';
import { reservationModel } from '@hqrelay/testing/reservation/reservation-model';
import { describe, expect, it } from 'vitest';
import {
  decide,
  needsLookUp,
  release,
  reservationMs,
  reserve,
  type Decision,
  type Reservation,
} from './reservation.ts';

// The model explores every interleaving of two requests and the provider's retry, with crashes, refusals and faults of
// the stores. It takes its rules from the functions of the domain, and
// `apps/receiver/test/reservation-conformance.test.ts` compares it with the real stores.

type Requests = Scenario['requests'];

const a = { webhookId: 'i', body: 'x' } as const;
const sameWebhook: Requests = { A: a, B: a, C: a };
const otherBody: Requests = { A: a, B: { webhookId: 'i', body: 'y' }, C: a };
const otherId: Requests = { A: a, B: { webhookId: 'j', body: 'x' }, C: a };

function check(
  requests: Requests,
  faults: Partial<Faults>,
  options: Omit<Partial<Scenario>, 'requests' | 'faults'> = {},
  changed: Partial<Rules> = {},
): string {
  const scenario: Scenario = { requests, onConflict: 'reject', faults, ...options };
  return describeExploration(explore(reservationModel(scenario, changed), { statesMax: 150_000 }));
}

describe('requests of one webhook', () => {
  it.each<[string, Requests, Partial<Faults>, Omit<Partial<Scenario>, 'requests' | 'faults'>?]>([
    ['a receiver crashes and a request is refused', sameWebhook, { crash: 1, refusal: 1 }],
    ['a receiver crashes and Redis does not answer or fails', sameWebhook, { crash: 1, redis: 1 }],
    ['a request is refused and Redis does not answer or fails', sameWebhook, { refusal: 1, redis: 1 }],
    ['a receiver crashes and Redis loses its keys', sameWebhook, { crash: 1, refusal: 1, flush: 1 }],
    ['Redis is unavailable', sameWebhook, { crash: 1, refusal: 1 }, { withoutRedis: true }],
    ['a request outlives its reservation', sameWebhook, { crash: 1, outlive: 1 }],
    ['Postgres does not answer and a receiver crashes', sameWebhook, { crash: 1, refusal: 1, postgres: 1 }],
    ['the second body differs, and a receiver crashes', otherBody, { crash: 1, refusal: 1 }],
    ['the second body differs, and Redis does not answer', otherBody, { crash: 1, redis: 1 }],
    ['the second body differs, and Redis loses its keys', otherBody, { crash: 1, flush: 1 }],
    ['the second body differs, without Redis', otherBody, { crash: 1, refusal: 1 }, { withoutRedis: true }],
    ['other bodies count as duplicates', otherBody, { crash: 1, redis: 1 }, { onConflict: 'duplicate' }],
    ['its content arrives under another id', otherId, { crash: 1, refusal: 1 }, { hasContentKey: true }],
    [
      'its content arrives under another id, without Redis',
      otherId,
      { crash: 1, refusal: 1 },
      { hasContentKey: true, withoutRedis: true },
    ],
  ])('a webhook gets one durable id and no request is stuck when %s', (_when, requests, faults, options) => {
    expect(check(requests, faults, options)).toMatch(/^holds in all \d+ states$/);
  });
});

describe('a webhook with two ids', () => {
  it('a webhook gets two ids if Redis does not answer while the row of an admitted request is missing', () => {
    expect(check(sameWebhook, { redis: 1 }, { without: ['visible'] })).toMatchInlineSnapshot(`
      "one webhook is answered 202 under two ids:
        1. A asks Redis: admit a
        2. A publishes a
        3. Redis does not answer B
        4. B asks Postgres
        5. B looks in Postgres: admit b
        6. A commits row a
        7. A answers 202 a
        8. B commits row b
        9. B publishes b
        10. B answers 202 b"
    `);
  });

  it('a webhook gets two ids if Redis is asked before it learns of a request that was served without it', () => {
    expect(check(sameWebhook, { redis: 1 }, { without: ['told'] })).toMatchInlineSnapshot(`
      "one webhook is answered 202 under two ids:
        1. Redis does not answer A
        2. A asks Postgres
        3. A looks in Postgres: admit a
        4. A commits row a
        5. A publishes a
        6. A answers 202 a
        7. B asks Redis: admit b
        8. B commits row b
        9. B publishes b
        10. B answers 202 b"
    `);
  });

  it('a webhook gets two ids if neither Redis nor Postgres answers one of its requests', () => {
    expect(check(sameWebhook, { redis: 1, postgres: 1 })).toMatchInlineSnapshot(`
      "one webhook is answered 202 under two ids:
        1. A asks Redis: admit a
        2. A commits row a
        3. A publishes a
        4. A answers 202 a
        5. Redis does not answer B
        6. Postgres does not answer B either: admit b
        7. B commits row b
        8. B publishes b
        9. B answers 202 b"
    `);
  });

  it('a webhook gets two ids if its content arrives under another webhook id at another store', () => {
    expect(check(otherId, { redis: 1 }, { hasContentKey: true })).toMatchInlineSnapshot(`
      "one webhook is answered 202 under two ids:
        1. A asks Redis: admit a
        2. A commits row a
        3. A publishes a
        4. A answers 202 a
        5. Redis does not answer B
        6. B asks Postgres
        7. B asks Postgres for the content
        8. B looks in Postgres: admit b
        9. B commits row b
        10. B publishes b
        11. B answers 202 b"
    `);
  });
});

const twoIds = 'one webhook is answered 202 under two ids';
const notDurable = 'a webhook is answered 202 that is not durable';
const crashed = { crash: 1 };

describe('the rules of a reservation', () => {
  it.each<[string, string, Partial<Rules>, Requests, Partial<Faults>]>([
    [
      'a reservation protects its request',
      twoIds,
      { reserve: (held, request, now) => reserve(held && aged(held), request, now) },
      otherBody,
      {},
    ],
    [
      'a reservation expires',
      'a retry still waits after ten seconds',
      { reserve: (held, request) => reserve(held && { ...held, reservedAt: 0 }, request, 0) },
      sameWebhook,
      crashed,
    ],
    [
      'a released key is free',
      'a retry waits although no key is reserved',
      { reserve: (held, request, now) => reserve(held && notReleased(held), request, now) },
      sameWebhook,
      { refusal: 1 },
    ],
    [
      'an accepted key is not taken over',
      twoIds,
      { reserve: (held, request, now) => reserve(held && { ...held, state: 'released' }, request, now) },
      otherBody,
      { postgres: 1 },
    ],
    [
      'a request that takes a key over keeps its id',
      twoIds,
      { reserve: withOwnId },
      sameWebhook,
      { crash: 1, postgres: 1 },
    ],
    [
      'a request releases its own reservation only',
      twoIds,
      { release: (held) => release(held, held?.token ?? '') },
      otherBody,
      { crash: 1, refusal: 1 },
    ],
    [
      'a takeover looks up the key in Postgres',
      twoIds,
      { needsLookUp: (input) => needsLookUp({ ...input, tookOver: false }) },
      otherBody,
      crashed,
    ],
    [
      'a key that Redis may have lost is looked up in Postgres',
      twoIds,
      { needsLookUp: (input) => needsLookUp({ ...input, memoryAgeMs: input.windowMs }) },
      sameWebhook,
      { flush: 1 },
    ],
    ['Redis is distrusted after it has lost keys', twoIds, { distrusts: false }, sameWebhook, { flush: 1 }],
    ['Redis is distrusted after it gave no answer', twoIds, { distrusts: false }, sameWebhook, { redis: 1 }],
    ['Postgres is asked for rows', twoIds, { looksForRows: false }, sameWebhook, { redis: 1 }],
    [
      'a request waits for the outcome of the one in progress',
      notDurable,
      { decide: (...given) => duplicateInsteadOfWait(decide(...given)) },
      sameWebhook,
      crashed,
    ],
    [
      'a webhook that may have no message is made durable again',
      notDurable,
      {
        decide: (request, reserved, prior) =>
          decide(request, reserved, prior && { ...prior, isCarried: true }),
      },
      sameWebhook,
      crashed,
    ],
    [
      'a request waits for a reservation in Postgres',
      twoIds,
      {
        decide: (request, reserved, prior) =>
          decide(request, reserved, prior?.state === 'reserved' ? null : prior),
      },
      sameWebhook,
      { redis: 1 },
    ],
    [
      'a webhook is made durable again under its own id',
      twoIds,
      {
        decide: (request, reserved, prior) =>
          admittedUnder(reserved.held.id, decide(request, reserved, prior)),
      },
      sameWebhook,
      { flush: 1 },
    ],
    [
      'another body conflicts with a webhook that may have no message',
      twoIds,
      { decide: (request, reserved, prior) => decide(request, reserved, prior?.isCarried ? prior : null) },
      otherBody,
      { flush: 1 },
    ],
    [
      'another body may follow a webhook that was released',
      'a retry conflicts with a webhook that was never accepted',
      {
        decidingPrior: (found) => found.find(Boolean) ?? null,
        decide: (request, reserved, prior) =>
          decide(request, reserved, prior && { ...prior, state: 'accepted' as const }),
      },
      otherBody,
      { refusal: 1, redis: 1 },
    ],
    ['a 202 waits for the row', notDurable, { mayAnswer: (_row, message) => message }, sameWebhook, {}],
    ['a 202 waits for the message', notDurable, { mayAnswer: (row) => row }, sameWebhook, {}],
  ])('without the rule that %s, the model finds that %s', (_rule, sentence, changed, requests, faults) => {
    expect(check(requests, faults, {}, changed).split('\n')[0]).toBe(`${sentence}:`);
  });

  it('without a key for its content, a webhook that arrives under another id gets a second id', () => {
    expect(check(otherId, {}, { hasContentKey: false }).split('\n')[0]).toBe(`${twoIds}:`);
  });

  it('without a Postgres lookup after a takeover, another body gets the key of an accepted webhook', () => {
    const changed: Partial<Rules> = { needsLookUp: (input) => needsLookUp({ ...input, tookOver: false }) };
    expect(check(otherBody, crashed, {}, changed)).toMatchInlineSnapshot(`
      "one webhook is answered 202 under two ids:
        1. A asks Redis: admit a
        2. A commits row a
        3. A publishes a
        4. A answers 202 a
        5. ten seconds pass
        6. B asks Redis: admit b
        7. B commits row b
        8. B publishes b
        9. B answers 202 b"
    `);
  });
});

function aged(held: Reservation): Reservation {
  return { ...held, reservedAt: held.reservedAt - reservationMs };
}

function notReleased(held: Reservation): Reservation {
  return held.state === 'released' ? { ...held, state: 'reserved', token: 'another' } : held;
}

function withOwnId(held: Reservation | null, request: Parameters<typeof reserve>[1], now: number) {
  const reserved = reserve(held, request, now);
  return reserved.tookOver ? { ...reserved, held: { ...reserved.held, id: request.id } } : reserved;
}

function duplicateInsteadOfWait(decision: Decision): Decision {
  return decision.kind === 'wait' ? { ...decision, kind: 'duplicate' } : decision;
}

function admittedUnder(id: string, decision: Decision): Decision {
  return decision.kind === 'admit' ? { ...decision, id } : decision;
}

import { randomUUID } from 'node:crypto';
import {
  reserve,
  type Reservation,
  type ReservationRequest,
  type Reserved,
} from '@hqrelay/domain/inbound/reservation';

export type ReservationCase = {
  title: string;
  held: Reservation | null;
  /** How long ago `held` was reserved. */
  ageMs: number;
  request: ReservationRequest;
  /** The result of the domain's `reserve`. */
  expected: Reserved;
};

const now = 1_000_000;

/** Every situation that the atomic step of a store can meet, with the domain's answer. */
export function reservationCases(): ReservationCase[] {
  const situations: [words: string, state: Reservation['state'], isOwn: boolean, ageMs: number][] = [
    ['accepted', 'accepted', false, 5_000],
    ['released', 'released', false, 100],
    ['reserved by another request 9 s ago', 'reserved', false, 9_000],
    ['reserved by another request 11 s ago', 'reserved', false, 11_000],
    ['reserved by this request', 'reserved', true, 100],
    ['reserved by this request 11 s ago', 'reserved', true, 11_000],
  ];
  const cases = situations.flatMap(([words, state, isOwn, ageMs]) =>
    [true, false].map((hasSameBody) => {
      const token = randomUUID();
      const request = { id: randomUUID(), payloadSha256: 'aa', token };
      const held = {
        state,
        id: randomUUID(),
        payloadSha256: hasSameBody ? 'aa' : 'bb',
        token: isOwn ? token : randomUUID(),
        reservedAt: now - ageMs,
      };
      const title = `${words}, ${hasSameBody ? 'the same' : 'another'} body`;
      return { title, held, ageMs, request, expected: reserve(held, request, now) };
    }),
  );
  const request = { id: randomUUID(), payloadSha256: 'aa', token: randomUUID() };
  const unknown = { title: 'unknown', held: null, ageMs: 0, request, expected: reserve(null, request, now) };
  return [unknown, ...cases];
}

import { describe, expect, it } from 'vitest';
import { deliveryId, idOfBytes, isUuid, lowestIdAt, newId, timeOfId, uuidv7 } from './ids.ts';

const rfcTimeMs = 1_645_557_742_000;
const rfcRandom = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f]);
const rfcId = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const endpointId = '018f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const replayId = '019f22e2-79b0-7cc3-98c4-dc0c0c07398f';

describe('uuidv7', () => {
  it('a UUIDv7 of the example input of RFC 9562 equals its example in appendix A.6', () => {
    expect(uuidv7(rfcTimeMs, rfcRandom)).toBe(rfcId);
  });

  it('a UUIDv7 has its version and variant, whatever the random bytes are', () => {
    for (const fill of [0, 255]) {
      expect(uuidv7(0, new Uint8Array(10).fill(fill))).toMatch(/^0{8}-0{4}-7...-[89ab]...-/);
    }
  });

  it('UUIDv7s sort by time as text', () => {
    const late = new Uint8Array(10);
    const early = new Uint8Array(10).fill(255);
    expect(uuidv7(1_000, early) < uuidv7(1_001, late)).toBe(true);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 48])('a UUIDv7 time cannot be %s', (time) => {
    expect(() => uuidv7(time, rfcRandom)).toThrow(RangeError);
  });

  it('a UUIDv7 of too few or too many random bytes is refused', () => {
    expect(() => uuidv7(1, new Uint8Array(9))).toThrow(RangeError);
    expect(() => uuidv7(1, new Uint8Array(16))).toThrow(RangeError);
  });

  it('uuidv7 does not modify the random bytes it is given', () => {
    const random = Uint8Array.from(rfcRandom);
    uuidv7(rfcTimeMs, random);
    expect(random).toEqual(rfcRandom);
  });
});

describe('newId', () => {
  it('a new id contains exactly the time it is created for', () => {
    expect(timeOfId(newId(rfcTimeMs))).toBe(rfcTimeMs);
  });

  it('new ids never repeat, even when the pool of random bytes is used up and refilled', () => {
    const ids = Array.from({ length: 5_000 }, () => newId(rfcTimeMs));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('timeOfId', () => {
  it.each([0, 1, rfcTimeMs, 2 ** 48 - 1])('the time %i is read back from a UUIDv7', (time) => {
    expect(timeOfId(uuidv7(time, rfcRandom))).toBe(time);
  });

  it('the time of a UUIDv7 in upper case is read', () => {
    expect(timeOfId(rfcId.toUpperCase())).toBe(rfcTimeMs);
  });

  it.each(['', 'x', '00000000-0000-4000-8000-000000000000', `${rfcId}\n`, rfcId.replaceAll('-', '')])(
    'reading a time from %j, which is not a UUIDv7, throws a RangeError',
    (text) => {
      expect(() => timeOfId(text)).toThrow(RangeError);
    },
  );
});

describe('isUuid', () => {
  it('a UUID of any version in any case is accepted', () => {
    expect(isUuid(rfcId)).toBe(true);
    expect(isUuid(rfcId.toUpperCase())).toBe(true);
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true);
    expect(isUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(true);
  });

  it.each([
    '',
    ' ',
    `${rfcId}\n`,
    ` ${rfcId}`,
    `{${rfcId}}`,
    `urn:uuid:${rfcId}`,
    rfcId.replaceAll('-', ''),
    rfcId.replace('f', 'g'),
    'é'.repeat(36),
    "' or 1=1 --",
    'a'.repeat(1_000_000),
  ])('a text that is not a UUID in its usual form is refused (case %#)', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});

describe('deliveryId', () => {
  // Python's hashlib and uuid computed the expected ids independently.
  it('a delivery id is derived from the webhook and the endpoint', () => {
    expect(deliveryId(rfcId, endpointId)).toBe('a08648c2-a298-8053-8d82-dccb05a03ca3');
  });

  it('a replay has another delivery id than the first delivery', () => {
    expect(deliveryId(rfcId, endpointId, replayId)).toBe('0d8b742d-eaf4-8582-9cd0-bbfc578c7247');
  });

  it('a delivery id does not depend on the case of the ids it is derived from', () => {
    expect(deliveryId(rfcId.toUpperCase(), endpointId)).toBe(deliveryId(rfcId, endpointId));
  });

  it('a delivery id differs when the webhook id and the endpoint id are swapped', () => {
    expect(deliveryId(endpointId, rfcId)).not.toBe(deliveryId(rfcId, endpointId));
  });

  it('a delivery id is derived from UUIDs only', () => {
    expect(() => deliveryId('x', endpointId)).toThrow(RangeError);
    expect(() => deliveryId(rfcId, '')).toThrow(RangeError);
    expect(() => deliveryId(rfcId, endpointId, '')).toThrow(RangeError);
  });
});

describe('idOfBytes', () => {
  it('the same bytes have the same UUIDv8, and other bytes have another one', () => {
    // The expected id is the first 16 bytes of SHA-256 of "abc" (FIPS 180-2), with version and variant set.
    expect(idOfBytes(Buffer.from('abc'))).toBe('ba7816bf-8f01-8fea-8141-40de5dae2223');
    expect(idOfBytes(Buffer.from('abd'))).not.toBe(idOfBytes(Buffer.from('abc')));
  });
});

it('the lowest id of a time is above every id of the millisecond before and not above one of its own', () => {
  const now = Date.UTC(2026, 10, 22);
  expect(timeOfId(lowestIdAt(now))).toBe(now);
  expect(uuidv7(now - 1, Buffer.alloc(10, 0xff)) < lowestIdAt(now)).toBe(true);
  expect(uuidv7(now, Buffer.alloc(10)) < lowestIdAt(now)).toBe(false);
});

import { randomBytes } from 'node:crypto';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decodeMessage, encodeMessage, type Envelope } from './messages.ts';
import { decodeParked, encodeParked } from './parked.ts';

const id = freshId();
const endpointId = freshId();
const envelope: Envelope = {
  v: 1,
  id,
  projectId: freshId(),
  eventType: 'payment.captured',
  correlationId: 'order-7',
  endpointIds: [endpointId],
  headers: [
    ['X-Twice', '1'],
    ['x-twice', '2'],
    ['x-text', 'caf\u00e9 \u{1f600} "\\'],
  ],
};
const delivery: NonNullable<Envelope['delivery']> = {
  deliveryId: deliveryId(id, endpointId),
  endpointId,
  attemptNum: 3,
  lane: 'retry',
  notBefore: 1_800_000_000_123,
};

/** Encodes any envelope as `encodeMessage` does. */
function encodeAnything(envelope: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(envelope));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}

describe('a message', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['of one byte', Buffer.from([0])],
    ['that looks like a message', encodeMessage({ envelope, body: Buffer.from('inner') })],
    ['of 4 MiB', randomBytes(4 << 20)],
  ])('a message with a body %s decodes to what was encoded', (_what, body) => {
    const given = {
      envelope: { ...envelope, delivery, mayBeDuplicate: 'done_if_recorded' } satisfies Envelope,
      body,
    };
    const decoded = decodeMessage(encodeMessage(given));
    if (decoded.kind !== 'message') throw new Error(decoded.reason);
    expect(decoded.message.envelope).toEqual(given.envelope);
    expect(decoded.message.body.equals(body)).toBe(true);
  });

  it('a message of a later version that only adds fields is decoded', () => {
    const decoded = decodeMessage(encodeAnything({ ...envelope, added: { later: true } }));
    expect(decoded).toMatchObject({ kind: 'message', message: { envelope } });
  });
});

/** The marks of the previous version, as its workers read and write them. */
const previousVersion = z.object({
  v: z.literal(1),
  copy: z.boolean().optional(),
  redelivered: z.boolean().optional(),
  putBack: z.boolean().optional(),
});

describe('the mark of a possible duplicate', () => {
  it.each([
    [{ copy: true }, { mayBeDuplicate: 'done_if_recorded' }],
    [{ redelivered: true }, { mayBeDuplicate: 'resume_if_recorded' }],
    [{ copy: true, redelivered: true }, { mayBeDuplicate: 'resume_if_recorded' }],
    [{ copy: false, redelivered: false }, {}],
    [
      { copy: true, redelivered: true, putBack: true },
      { mayBeDuplicate: 'resume_if_recorded', putBack: true },
    ],
  ])('the mark of a possible duplicate is read from a message of the previous version: %j', (before, now) => {
    const decoded = decodeMessage(encodeAnything({ ...envelope, ...before }));
    expect(decoded).toMatchObject({ kind: 'message' });
    expect(decoded.kind === 'message' && decoded.message.envelope).toEqual({ ...envelope, ...now });
  });

  it.each([
    ['done_if_recorded', { copy: true, redelivered: false }],
    ['resume_if_recorded', { copy: true, redelivered: true }],
  ] as const)('the mark %s is also written in the form of the previous version', (mark, marks) => {
    const content = encodeMessage({ envelope: { ...envelope, mayBeDuplicate: mark }, body: Buffer.alloc(0) });
    const read = previousVersion.parse(JSON.parse(content.toString('utf8', 4)));
    expect(read).toEqual({ v: 1, ...marks });
  });

  it('no mark is written on a message that cannot be a duplicate', () => {
    const json = encodeMessage({ envelope, body: Buffer.alloc(0) }).toString('utf8', 4);
    expect(JSON.parse(json)).toEqual(envelope);
  });
});

describe('bytes that are not a message', () => {
  const whole = encodeMessage({ envelope, body: Buffer.alloc(0) });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a length', Buffer.from([0, 0, 1])],
    ['a length past the end', Buffer.from([255, 255, 255, 255, 1])],
    ['a message cut short', whole.subarray(0, whole.length - 1)],
    ['no JSON', Buffer.concat([Buffer.from([0, 0, 0, 3]), Buffer.from('{"v')])],
    ['JSON that is no object', encodeAnything(null)],
    ['another version', encodeAnything({ ...envelope, v: 2 })],
    ['an envelope without its webhook id', encodeAnything({ ...envelope, id: undefined })],
    ['an id that is not a UUID', encodeAnything({ ...envelope, id: 'webhook' })],
    ['an id that is not a UUIDv7', encodeAnything({ ...envelope, id: delivery.deliveryId })],
    ['an endpoint id that is not a UUID', encodeAnything({ ...envelope, endpointIds: ['endpoint'] })],
    ['headers that are no list', encodeAnything({ ...envelope, headers: { a: 'b' } })],
    ['a header without its value', encodeAnything({ ...envelope, headers: [['a']] })],
    ['a header whose value is no text', encodeAnything({ ...envelope, headers: [['a', 1]] })],
    ['no headers', encodeAnything({ ...envelope, headers: undefined })],
    ['attempt 0', encodeAnything({ ...envelope, delivery: { ...delivery, attemptNum: 0 } })],
    ['half an attempt', encodeAnything({ ...envelope, delivery: { ...delivery, attemptNum: 1.5 } })],
    ['an unknown lane', encodeAnything({ ...envelope, delivery: { ...delivery, lane: 'fast' } })],
  ])('bytes that are not a message (%s) decode to the reason', (_what, content) => {
    expect(decodeMessage(content)).toEqual({
      kind: 'unreadable',
      reason: expect.stringMatching(/\w/) as string,
    });
  });

  it('random bytes never make a decoder throw', () => {
    for (let length = 0; length < 2_000; length += 1) {
      const content = randomBytes(length % 100);
      if (length % 2 === 0 && content.length >= 4) content.writeUInt32BE(length % 90);
      expect(decodeMessage(content).kind).toBe('unreadable');
      expect(decodeParked(content)).toBeNull();
    }
  });
});

describe('a parked message', () => {
  it('a parked message decodes to its reason and its bytes', () => {
    const content = randomBytes(1_000);
    const why = { v: 1, kind: 'delivery', reason: 'HTTP 500 at attempt 3, the last \u{1f600}' } as const;
    const parked = decodeParked(encodeParked(why, content));
    expect(parked?.why).toEqual(why);
    expect(parked?.content.equals(content)).toBe(true);
  });

  it('a message that the broker dead-lettered itself does not decode as a parked one', () => {
    expect(decodeParked(encodeMessage({ envelope, body: Buffer.from('HQRD') }))).toBeNull();
    const ours = encodeParked({ v: 1, kind: 'message', reason: 'x' }, Buffer.alloc(0));
    expect(decodeParked(ours.subarray(0, ours.length - 1))).toBeNull();
    expect(
      decodeParked(Buffer.concat([Buffer.from('HQRD'), encodeAnything({ v: 1, kind: 'other' })])),
    ).toBeNull();
  });
});

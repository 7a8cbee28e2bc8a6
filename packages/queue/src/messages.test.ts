import { randomBytes } from 'node:crypto';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decodeMessage, encodeMessage, type Envelope } from './messages.ts';
import { decodeParked, encodeParked } from './parked.ts';

const id = newId();
const endpointId = newId();
const envelope: Envelope = {
  v: 1,
  id,
  projectId: newId(),
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

/** As `encodeMessage` would, whatever the envelope. */
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
  ])('with a body %s comes back as it was', (_what, body) => {
    const given = {
      envelope: { ...envelope, delivery, mayBeDuplicate: 'done_if_recorded' } satisfies Envelope,
      body,
    };
    const decoded = decodeMessage(encodeMessage(given));
    if (decoded.kind !== 'message') throw new Error(decoded.reason);
    expect(decoded.message.envelope).toEqual(given.envelope);
    expect(decoded.message.body.equals(body)).toBe(true);
  });

  it('of a version to come that only adds fields is readable', () => {
    const decoded = decodeMessage(encodeAnything({ ...envelope, added: { later: true } }));
    expect(decoded).toMatchObject({ kind: 'message', message: { envelope } });
  });
});

/** The marks of the version before, as its workers read and wrote them. */
const versionBefore = z.object({
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
  ])('is read from a message of the version before: %j', (before, now) => {
    const decoded = decodeMessage(encodeAnything({ ...envelope, ...before }));
    expect(decoded).toMatchObject({ kind: 'message' });
    expect(decoded.kind === 'message' && decoded.message.envelope).toEqual({ ...envelope, ...now });
  });

  it.each([
    ['done_if_recorded', { copy: true, redelivered: false }],
    ['resume_if_recorded', { copy: true, redelivered: true }],
  ] as const)('%s makes a worker of the version before ask, and resume as this one', (mark, marks) => {
    const content = encodeMessage({ envelope: { ...envelope, mayBeDuplicate: mark }, body: Buffer.alloc(0) });
    const read = versionBefore.parse(JSON.parse(content.toString('utf8', 4)));
    expect(read).toEqual({ v: 1, ...marks });
  });

  it('is not written on a message that cannot be a duplicate', () => {
    const json = encodeMessage({ envelope, body: Buffer.alloc(0) }).toString('utf8', 4);
    expect(JSON.parse(json)).toEqual(envelope);
  });
});

describe('bytes that are no message', () => {
  const whole = encodeMessage({ envelope, body: Buffer.alloc(0) });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a length', Buffer.from([0, 0, 1])],
    ['a length past the end', Buffer.from([255, 255, 255, 255, 1])],
    ['a message cut short', whole.subarray(0, whole.length - 1)],
    ['no JSON', Buffer.concat([Buffer.from([0, 0, 0, 3]), Buffer.from('{"v')])],
    ['JSON that is no object', encodeAnything(null)],
    ['another version', encodeAnything({ ...envelope, v: 2 })],
    ['an envelope without its webhook', encodeAnything({ ...envelope, id: undefined })],
    ['an id that is none', encodeAnything({ ...envelope, id: 'webhook' })],
    ['an id without a time in it', encodeAnything({ ...envelope, id: delivery.deliveryId })],
    ['an endpoint that is none', encodeAnything({ ...envelope, endpointIds: ['endpoint'] })],
    ['attempt 0', encodeAnything({ ...envelope, delivery: { ...delivery, attemptNum: 0 } })],
    ['half an attempt', encodeAnything({ ...envelope, delivery: { ...delivery, attemptNum: 1.5 } })],
    ['no lane of ours', encodeAnything({ ...envelope, delivery: { ...delivery, lane: 'fast' } })],
  ])('(%s) say why, and do not throw', (_what, content) => {
    expect(decodeMessage(content)).toEqual({
      kind: 'unreadable',
      reason: expect.stringMatching(/\w/) as string,
    });
  });

  it('of any kind do not throw', () => {
    for (let length = 0; length < 2_000; length += 1) {
      const content = randomBytes(length % 100);
      if (length % 2 === 0 && content.length >= 4) content.writeUInt32BE(length % 90);
      expect(decodeMessage(content).kind).toBe('unreadable');
      expect(decodeParked(content)).toBeNull();
    }
  });
});

describe('a parked message', () => {
  it('comes back as it was, with the reason', () => {
    const content = randomBytes(1_000);
    const why = { v: 1, kind: 'delivery', reason: 'HTTP 500 at attempt 3, the last \u{1f600}' } as const;
    const parked = decodeParked(encodeParked(why, content));
    expect(parked?.why).toEqual(why);
    expect(parked?.content.equals(content)).toBe(true);
  });

  it('that the broker moved by itself is told from one of ours', () => {
    expect(decodeParked(encodeMessage({ envelope, body: Buffer.from('HQRD') }))).toBeNull();
    const ours = encodeParked({ v: 1, kind: 'message', reason: 'x' }, Buffer.alloc(0));
    expect(decodeParked(ours.subarray(0, ours.length - 1))).toBeNull();
    expect(
      decodeParked(Buffer.concat([Buffer.from('HQRD'), encodeAnything({ v: 1, kind: 'other' })])),
    ).toBeNull();
  });
});

import { encodeSpill } from '@hqrelay/audit/spill-format';
import { deliveryId, idOfBytes } from '@hqrelay/domain/ids';
import { decodeMessage, encodeMessage, type Envelope } from '@hqrelay/queue/messages';
import { encodeParked, type Parked } from '@hqrelay/queue/parked';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { dispositionOf } from './dead-letter.ts';

const [id, projectId, first, second] = [freshId(), freshId(), freshId(), freshId()] as const;
const body = Buffer.from('{"n":1}');

function messageWith(envelope: Partial<Envelope> = {}): Buffer {
  const base = { v: 1 as const, id, projectId, eventType: null, correlationId: 'test', headers: [] };
  return encodeMessage({ envelope: { ...base, endpointIds: [first, second], ...envelope }, body });
}

const delivery = (lane: 'live' | 'retry' | 'replay', attemptNum = 1) => ({
  deliveryId: deliveryId(id, first),
  endpointId: first,
  attemptNum,
  lane,
  notBefore: 0,
});

const parked = (kind: Parked['kind'], content: Buffer) =>
  encodeParked({ v: 1, kind, reason: 'the reason' }, content);

const ids = { projectId, webhookLogId: id };

describe('a parked message', () => {
  it('a parked message is a dead letter of its delivery, without the bytes that its webhook has stored', () => {
    const disposition = dispositionOf(parked('delivery', messageWith({ delivery: delivery('retry', 6) })));
    const letter = { id: deliveryId(id, first), kind: 'delivery', reason: 'the reason', ...ids };
    expect(disposition).toEqual({
      kind: 'stored',
      letters: [{ ...letter, endpointId: first, content: null }],
    });
  });

  it('a parked message that was not fanned out is a dead letter of each delivery that it owes', () => {
    const disposition = dispositionOf(parked('message', messageWith()));
    expect(disposition).toMatchObject({
      letters: [
        { id: deliveryId(id, first), kind: 'delivery', endpointId: first },
        { id: deliveryId(id, second), kind: 'delivery', endpointId: second },
      ],
    });
  });

  it('a parked message that cannot be read keeps its bytes, under an id derived from them', () => {
    const bytes = Buffer.from('poison');
    const letter = { kind: 'message', reason: 'the reason', id: idOfBytes(bytes), content: bytes };
    expect(dispositionOf(parked('message', bytes))).toMatchObject({
      letters: [{ ...letter, webhookLogId: null }],
    });
  });

  it.each([
    ['names its project, webhook and endpoint', projectId, projectId],
    ['leaves out an id that is not a UUID, for which Postgres may have refused it', 'no-uuid', null],
  ])('the dead letter of a parked audit row %s', (_what, given, expected) => {
    const attempt = { deliveryId: freshId(), webhookLogId: id, projectId: given, endpointId: first };
    const spill = encodeSpill([{ kind: 'attempt', attempt: { id: freshId(), ...attempt } as never }]);
    const letter = { kind: 'audit_row', projectId: expected, webhookLogId: id, endpointId: first };
    expect(dispositionOf(parked('audit_row', spill))).toMatchObject({
      letters: [{ ...letter, content: spill }],
    });
  });
});

describe('a message that the broker moved at its delivery limit', () => {
  it.each([
    ['a webhook', undefined, 'hqrelay.webhooks'],
    ['a first attempt', delivery('live'), 'hqrelay.webhooks'],
    ['a retry', delivery('retry', 2), 'hqrelay.retries'],
    ['a replay', delivery('replay'), 'hqrelay.replays'],
  ])('%s at its delivery limit is put back into its work queue and marked', (_what, given, queue) => {
    const content = messageWith({ mayBeDuplicate: 'done_if_recorded', ...(given && { delivery: given }) });
    const disposition = dispositionOf(content);
    const decoded = decodeMessage(content);
    if (decoded.kind !== 'message' || disposition.kind !== 'put_back') throw new Error('unexpected');
    expect(disposition.queue).toBe(queue);
    expect(disposition.message.envelope).toEqual({
      ...decoded.message.envelope,
      putBack: true,
      mayBeDuplicate: 'resume_if_recorded',
    });
    expect(disposition.message.body.equals(body)).toBe(true);
  });

  it('a message at its delivery limit that was put back before is a dead letter of each of its deliveries', () => {
    const disposition = dispositionOf(messageWith({ putBack: true }));
    const reason = expect.stringContaining('twice');
    expect(disposition).toMatchObject({
      letters: [
        { id: deliveryId(id, first), kind: 'delivery', reason },
        { id: deliveryId(id, second), kind: 'delivery', reason },
      ],
    });
  });

  it('a message at its delivery limit that cannot be read is a dead letter with the reason', () => {
    const bytes = Buffer.from('deadbeef');
    const letter = { kind: 'message', reason: 'shorter than its envelope', content: bytes };
    expect(dispositionOf(bytes)).toMatchObject({ letters: [letter] });
  });

  it('a message at its delivery limit that owes nothing is a dead letter with its bytes', () => {
    const content = messageWith({ endpointIds: [], putBack: true });
    expect(dispositionOf(content)).toMatchObject({
      letters: [{ kind: 'message', webhookLogId: id, content }],
    });
  });
});

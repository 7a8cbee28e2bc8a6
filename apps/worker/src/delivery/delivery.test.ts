import { deliveryId } from '@hqrelay/domain/ids';
import type { Envelope } from '@hqrelay/queue/messages';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { deliveryOf, firstDelivery, messageOf } from './delivery.ts';

const [first, second] = [freshId(), freshId()] as [string, string];

function putBack(endpointIds: string[], changes: Partial<Envelope> = {}): Envelope {
  const envelope = {
    v: 1 as const,
    id: freshId(),
    projectId: freshId(),
    eventType: null,
    correlationId: 'test',
  };
  return {
    ...envelope,
    endpointIds,
    headers: [],
    mayBeDuplicate: 'resume_if_recorded',
    putBack: true,
    ...changes,
  };
}

const body = Buffer.from('{}');

describe('the mark of a message that was put back', () => {
  it('a message that is delayed or held keeps the mark that it was put back', () => {
    const webhook = putBack([first]);
    const fields = firstDelivery(webhook, first);
    expect(messageOf(deliveryOf({ envelope: webhook, body }, fields, false)).envelope.putBack).toBe(true);

    const retry = { ...fields, attemptNum: 3, lane: 'retry' as const };
    const envelope = putBack([first], { delivery: retry });
    expect(messageOf(deliveryOf({ envelope, body }, retry, false)).envelope.putBack).toBe(true);
  });

  it('the message of the next attempt is not marked as put back', () => {
    const webhook = putBack([first]);
    const delivery = deliveryOf({ envelope: webhook, body }, firstDelivery(webhook, first), false);
    const next = { ...delivery, fields: { ...delivery.fields, attemptNum: 2 } };
    expect(messageOf(next).envelope).not.toHaveProperty('putBack');

    const retry = { ...delivery.fields, attemptNum: 2 };
    const again = deliveryOf({ envelope: putBack([first], { delivery: retry }), body }, retry, false);
    expect(messageOf({ ...again, fields: { ...retry, attemptNum: 3 } }).envelope).not.toHaveProperty(
      'putBack',
    );
  });

  it('the messages that a webhook is fanned out to are not marked as put back', () => {
    const envelope = putBack([first, second]);
    const fields = { ...firstDelivery(envelope, first), deliveryId: deliveryId(envelope.id, first) };
    expect(messageOf(deliveryOf({ envelope, body }, fields, false)).envelope).not.toHaveProperty('putBack');
  });
});

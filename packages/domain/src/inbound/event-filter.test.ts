import { describe, expect, it } from 'vitest';
import { matchesEventTypes, parseEventTypes } from './event-filter.ts';

describe('matchesEventTypes', () => {
  it.each([[[]], [['*']], [['order.paid', '*']]])(
    'the event filter %j matches every webhook, also one without an event type',
    (patterns) => {
      expect(matchesEventTypes(patterns, 'payment.captured')).toBe(true);
      expect(matchesEventTypes(patterns, '')).toBe(true);
      expect(matchesEventTypes(patterns, null)).toBe(true);
    },
  );

  it.each(['payment.captured', 'payment.refund.created', 'payment.*', 'payment..'])(
    'the event filter payment.* matches %s',
    (type) => {
      expect(matchesEventTypes(['payment.*'], type)).toBe(true);
    },
  );

  it.each([
    'payment',
    'payment.',
    'payments.x',
    'Payment.captured',
    'xpayment.captured',
    'order.payment.x',
    '',
    null,
  ])('the event filter payment.* does not match %s', (type) => {
    expect(matchesEventTypes(['payment.*'], type)).toBe(false);
  });

  it('an event filter without a wildcard matches exactly one event type', () => {
    expect(matchesEventTypes(['order.paid'], 'order.paid')).toBe(true);
    expect(matchesEventTypes(['order.paid'], 'order.Paid')).toBe(false);
    expect(matchesEventTypes(['order.paid'], 'order.paid.late')).toBe(false);
    expect(matchesEventTypes(['order.paid'], 'orderXpaid')).toBe(false);
  });

  it('an event filter of several patterns matches when any of them matches', () => {
    expect(matchesEventTypes(['order.paid', 'payment.*'], 'payment.captured')).toBe(true);
    expect(matchesEventTypes(['order.paid', 'payment.*'], 'refund.created')).toBe(false);
  });

  it('an event filter takes regular expression characters literally', () => {
    expect(matchesEventTypes(['a+b(c)', '[x].*'], 'a+b(c)')).toBe(true);
    expect(matchesEventTypes(['.+'], 'anything')).toBe(false);
    expect(matchesEventTypes(['[x].*'], 'x.y')).toBe(false);
  });

  it('a huge hostile event type is matched before the test times out', () => {
    expect(matchesEventTypes(['a.*', `${'a.'.repeat(100)}*`], 'a.'.repeat(1_000_000))).toBe(true);
  });
});

describe('parseEventTypes', () => {
  it.each([
    ['payment.*,order.*', ['payment.*', 'order.*']],
    [' payment.captured , order.paid ', ['payment.captured', 'order.paid']],
    ['*', ['*']],
    ['a,a,b', ['a', 'b']],
    ['charge complete', ['charge complete']],
    ['ödeme.alındı', ['ödeme.alındı']],
  ])('the event type list %j is parsed into its patterns', (list, patterns) => {
    expect(parseEventTypes(list)).toEqual(patterns);
  });

  it.each([
    ['', 'an event type is empty'],
    ['  ', 'an event type is empty'],
    ['payment.*,', 'an event type is empty'],
    ['pay*', "the '*' may only stand alone or at the end after a dot"],
    ['*.created', "the '*' may only"],
    ['a.*.b', "the '*' may only"],
    ['a.**', "the '*' may only"],
    ['.*', "the '*' may only"],
    ['**', "the '*' may only"],
    ['a\0b', 'has a control character'],
    ['a\u0085b', 'has a control character'],
    ['a\ud800', 'has a control character'],
    ['a'.repeat(256), 'at most 255 characters, not 256'],
    [Array.from({ length: 101 }, (_, i) => `t${i}`).join(), 'at most 100 event types, not 101'],
  ])('an invalid event type list is refused with the reason (case %#)', (list, message) => {
    expect(() => parseEventTypes(list)).toThrow(RangeError);
    expect(() => parseEventTypes(list)).toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import { matchesEventTypes, parseEventTypes } from './event-filter.ts';

describe('matchesEventTypes', () => {
  it.each([[[]], [['*']], [['order.paid', '*']]])(
    'with %j every webhook matches, also one without a type',
    (patterns) => {
      expect(matchesEventTypes(patterns, 'payment.captured')).toBe(true);
      expect(matchesEventTypes(patterns, '')).toBe(true);
      expect(matchesEventTypes(patterns, null)).toBe(true);
    },
  );

  it.each(['payment.captured', 'payment.refund.created', 'payment.*', 'payment..'])(
    'payment.* matches %s',
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
  ])('payment.* does not match %s', (type) => {
    expect(matchesEventTypes(['payment.*'], type)).toBe(false);
  });

  it('matches an exact type to the letter', () => {
    expect(matchesEventTypes(['order.paid'], 'order.paid')).toBe(true);
    expect(matchesEventTypes(['order.paid'], 'order.Paid')).toBe(false);
    expect(matchesEventTypes(['order.paid'], 'order.paid.late')).toBe(false);
    expect(matchesEventTypes(['order.paid'], 'orderXpaid')).toBe(false);
  });

  it('matches when any of several patterns does', () => {
    expect(matchesEventTypes(['order.paid', 'payment.*'], 'payment.captured')).toBe(true);
    expect(matchesEventTypes(['order.paid', 'payment.*'], 'refund.created')).toBe(false);
  });

  it('takes regular expression characters literally', () => {
    expect(matchesEventTypes(['a+b(c)', '[x].*'], 'a+b(c)')).toBe(true);
    expect(matchesEventTypes(['.+'], 'anything')).toBe(false);
    expect(matchesEventTypes(['[x].*'], 'x.y')).toBe(false);
  });

  it('stays fast for a huge hostile type', () => {
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
  ])('reads %j', (list, patterns) => {
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
  ])('refuses list %# and says why', (list, message) => {
    expect(() => parseEventTypes(list)).toThrow(RangeError);
    expect(() => parseEventTypes(list)).toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import type { SentWebhook } from '../harness/load.ts';
import { judgeArrivals } from './order/judge-arrivals.ts';
import { orderProblems } from './outcome/order-problems.ts';

describe('the judge of a round', () => {
  const sent = [
    { key: 'a', number: 0 },
    { key: 'b', number: 1 },
    { key: 'a', number: 2 },
  ];
  const [a0, b1, a2] = sent as [(typeof sent)[0], (typeof sent)[0], (typeof sent)[0]];

  it('a webhook that arrives twice before a later one of its key is no fault', () => {
    expect(judgeArrivals(sent, [a0, a0, a2, b1])).toEqual([]);
  });

  it('a webhook that arrives again after a later one of its key is a fault', () => {
    expect(judgeArrivals(sent, [a0, b1, a2, a0])).toEqual(['of key a, 0 arrived after 2']);
  });

  it('a webhook that never arrives is a fault', () => {
    expect(judgeArrivals(sent, [a0, a2])).toEqual(['of key b, 1 never arrived']);
  });
});

describe('the judge of an ordered row', () => {
  const webhook = (id: string, sentAt: number, acceptedAt: number, orderKey = 'order_1') =>
    ({ projectId: 'project', ids: new Set([id]), sentAt, acceptedAt, orderKey }) as SentWebhook;
  const problems = (webhooks: SentWebhook[], arrivals: [string, number][], name = 'ordered' as const) =>
    orderProblems({
      webhooks,
      owedBy: new Map([['project', ['endpoint']]]),
      endpoints: new Map([
        [
          'endpoint',
          { name, arrivals: new Map(arrivals.map(([id, at]) => [id, [{ attemptNum: 1, at }]] as const)) },
        ],
      ]),
    });

  it('a webhook that was sent after the 202 of another of its key must not arrive before it', () => {
    const webhooks = [webhook('first', 0, 10), webhook('second', 11, 20)];
    const overtaken = [['second', 30] as [string, number], ['first', 40] as [string, number]];
    expect(problems(webhooks, overtaken)).toEqual([
      '1 deliveries arrived after a later one of their key, such as first of order_1',
    ]);
  });

  it('webhooks that were sent at once, and those of other keys, may arrive in any order', () => {
    const webhooks = [webhook('first', 0, 10), webhook('second', 5, 20), webhook('other', 11, 20, 'order_2')];
    expect(
      problems(webhooks, [
        ['other', 25],
        ['second', 30],
        ['first', 40],
      ]),
    ).toEqual([]);
  });
});

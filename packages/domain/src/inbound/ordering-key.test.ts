import { describe, expect, it } from 'vitest';
import { orderingKeyProblem, orderingKeysOf } from './ordering-key.ts';

function keyOf(orderingKey: string | null, body: string, headers: [string, string][] = []) {
  const request = {
    method: 'POST',
    url: '',
    query: '',
    headers: () => undefined,
    body: Buffer.from(body),
  };
  return orderingKeysOf([{ id: 'e1', orderingKey }], ['e1'], { request, headers })?.['e1'];
}

describe('the value of an ordering key', () => {
  it('a value in the body is found by its JSON Pointer', () => {
    expect(keyOf('/data/order_id', '{"data":{"order_id":"o-1"}}')).toBe('o-1');
    expect(keyOf('/a~1b/m~0n/0', '{"a/b":{"m~n":["x"]}}')).toBe('x');
  });

  it('a number keeps its digits, so that two long numbers are two keys', () => {
    expect(keyOf('/id', '{"id":12345678901234567890}')).toBe('12345678901234567890');
    expect(keyOf('/id', '{"id":12345678901234567891}')).toBe('12345678901234567891');
    expect(keyOf('/id', '{"id":1.10}')).toBe('1.10');
  });

  it('a value of a header is found by its name in any case', () => {
    expect(keyOf('header:X-Order-Id', '', [['x-order-ID', '7']])).toBe('7');
  });

  it('a webhook without the value is unordered', () => {
    for (const body of ['', 'not json', '{}', '{"id":null}', '{"id":""}', '{"id":{"a":1}}', '{"id":[1]}']) {
      expect(keyOf('/id', body)).toBeUndefined();
    }
    expect(keyOf('header:X-Order-Id', '{}')).toBeUndefined();
    expect(keyOf(null, '{"id":1}')).toBeUndefined();
  });

  it('a value over 255 bytes, or one that Postgres cannot store as it is, is hashed', () => {
    expect(keyOf('/id', `{"id":"${'a'.repeat(255)}"}`)).toBe('a'.repeat(255));
    expect(keyOf('/id', `{"id":"${'a'.repeat(256)}"}`)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(keyOf('/id', '{"id":"a\\u0000"}')).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(keyOf('/id', '{"id":"\\ud800"}')).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('an endpoint that the webhook does not owe has no key', () => {
    const request = {
      method: 'POST',
      url: '',
      query: '',
      headers: () => undefined,
      body: Buffer.from('{"id":1}'),
    };
    const endpoints = ['e1', 'e2', 'e3'].map((id) => ({ id, orderingKey: id === 'e3' ? null : '/id' }));
    expect(orderingKeysOf(endpoints, ['e2', 'e3'], { request, headers: [] })).toEqual({ e2: '1' });
  });
});

describe('an ordering key of an endpoint', () => {
  it('JSON Pointers and header names are accepted, other texts are refused with the reason', () => {
    for (const fine of ['/id', '/a/b', '/a~1b', '/0', 'header:X-Order-Id']) {
      expect(orderingKeyProblem(fine)).toBeUndefined();
    }
    expect(orderingKeyProblem('order_id')).toMatch(/neither a JSON Pointer/);
    expect(orderingKeyProblem('')).toMatch(/neither a JSON Pointer/);
    expect(orderingKeyProblem('/a~2')).toMatch(/neither a JSON Pointer/);
    expect(orderingKeyProblem('header:')).toMatch(/not the name of a header/);
    expect(orderingKeyProblem('header:Authorization')).toMatch(/is a credential/);
    expect(orderingKeyProblem(`/${'a'.repeat(255)}`)).toMatch(/at most 255/);
  });
});

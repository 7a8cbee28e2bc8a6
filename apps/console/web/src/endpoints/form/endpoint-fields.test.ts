import { expect, it } from 'vitest';
import { changesOf, emptyFields } from './endpoint-fields.ts';

const before = { ...emptyFields, url: 'https://shop.example/hooks?token=…' };

it('a URL that was not touched is not sent, as its secret parameters are hidden', () => {
  expect(changesOf(before, { ...before, timeoutSeconds: '5' })).toEqual({ timeoutMs: 5_000 });
});

it('event types and delays are lists, however they are separated', () => {
  const after = { ...before, eventTypes: 'payment.*, order.paid\nrefund', retrySchedule: '1s 5s,1m' };
  expect(changesOf(before, after)).toEqual({
    eventTypes: ['payment.*', 'order.paid', 'refund'],
    retrySchedule: ['1s', '5s', '1m'],
  });
});

it('an emptied event filter means all event types', () => {
  expect(changesOf({ ...before, eventTypes: 'a' }, before)).toEqual({ eventTypes: [] });
});

it('each line is a header, whose value may have colons', () => {
  const headers = 'Authorization: Basic a:b\n\nX-Team: pay';
  expect(changesOf(before, { ...before, headers })).toEqual({
    headers: [
      { name: 'Authorization', value: 'Basic a:b' },
      { name: 'X-Team', value: 'pay' },
    ],
  });
});

it('an emptied ordering key means no order', () => {
  expect(changesOf({ ...before, orderingKey: '/order_id' }, before)).toEqual({ orderingKey: null });
  expect(changesOf(before, { ...before, orderingKey: ' /order_id ', onDeadLetter: 'hold' })).toEqual({
    orderingKey: '/order_id',
    onDeadLetter: 'hold',
  });
});

it('a stored certificate is kept, replaced or removed', () => {
  const pem = '-----BEGIN CERTIFICATE-----\n';
  expect(changesOf(before, { ...before, removesCa: true, removesClientCertificate: true })).toEqual({
    caCertificates: null,
    clientCertificate: null,
  });
  expect(
    changesOf(before, { ...before, caCertificates: pem, clientCertificate: pem, clientKey: 'k' }),
  ).toEqual({
    caCertificates: pem,
    clientCertificate: { certificate: pem, key: 'k' },
  });
});

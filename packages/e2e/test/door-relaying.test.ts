import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openDoor, type Door } from './door-world.ts';

const path = '/v1/webhooks/0190f0f0-0000-7000-8000-000000000001';
const bodyBytesMax = 1_048_576;

describe('how nginx relays requests to receivers', () => {
  // In the place of receivers, because a receiver cannot be told to reset, to hang or to answer 503.
  let receivers: RecordingEndpoint[];
  let door: Door;

  beforeAll(async () => {
    receivers = await Promise.all([startRecordingEndpoint(), startRecordingEndpoint()]);
    door = await openDoor(
      inject('run').folder,
      receivers.map(({ url }) => Number(new URL(url).port)),
    );
  });

  afterAll(async () => {
    await door.close();
    await Promise.all(receivers.map((each) => each.close()));
  });

  beforeEach(() => {
    for (const each of receivers) each.answerWith({ statusCode: 202, body: '{}' });
  });

  const requests = () => receivers.flatMap((each) => each.requests);

  it('a webhook reaches a receiver with its bytes, its path and every header as the provider wrote them', async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const headers = { 'X-Signature_V2': 'a=b', 'x.dotted': '1', 'X-Correlation-Id': 'order-1' };
    const before = requests().length;
    await door.send({ path: `${path}?token=%2f&a=1`, headers, body });
    const received = requests().slice(before);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: 'POST', path: `${path}?token=%2f&a=1` });
    expect(received[0]?.body.equals(body)).toBe(true);
    const raw = received[0]?.rawHeaders ?? [];
    for (const [name, value] of Object.entries(headers)) expect(raw[raw.indexOf(name) + 1]).toBe(value);
  });

  it('the address that a provider claims in X-Forwarded-For is replaced by the address of its connection', async () => {
    const before = requests().length;
    await door.send({ path, headers: { 'X-Forwarded-For': '203.0.113.9' }, from: '127.0.0.5' });
    expect(requests().slice(before)[0]?.headers['x-forwarded-for']).toBe('127.0.0.5');
  });

  it('a webhook whose receiver resets the connection is sent to the other receiver', async () => {
    let resets = 0;
    for (const each of receivers) {
      each.answerWith(() => ((resets += 1) === 1 ? { instead: 'reset' } : { statusCode: 202, body: '{}' }));
    }
    expect((await door.send({ path, body: Buffer.from('{}') })).statusCode).toBe(202);
    expect(resets).toBe(2);
  });

  it('a webhook whose receiver answers 503 gets that answer and is sent to no other receiver', async () => {
    const before = requests().length;
    for (const each of receivers) {
      each.answerWith({ statusCode: 503, headers: { 'Retry-After': '7' }, body: '{"error":{}}' });
    }
    const answer = await door.send({ path, body: Buffer.from('{}') });
    expect(answer).toMatchObject({ statusCode: 503, text: '{"error":{}}' });
    expect(answer.headers['retry-after']).toBe('7');
    expect(requests()).toHaveLength(before + 1);
  });

  it('a webhook whose receiver does not answer is refused with 503 within 3 s and is sent to no other receiver', async () => {
    const before = requests().length;
    for (const each of receivers) each.answerWith({ instead: 'hang' });
    const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
      door.send({ path, body: Buffer.from('{}') }),
    );
    expect(undisturbedMs).toBeLessThan(3_000);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'receiver.unavailable' } });
    expect(requests()).toHaveLength(before + 1);
  });

  it('a body reaches a receiver only when all of it has arrived', async () => {
    const before = requests().length;
    const socket = await door.connect();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    for (let i = 0; i < 500; i += 1) socket.write('1\r\nx\r\n');
    // Answered after those bytes: nginx has read them.
    await door.send({ path: '/health', method: 'GET' });
    expect(
      requests()
        .slice(before)
        .map((each) => each.path),
    ).toEqual(['/health']);
    socket.write('0\r\n\r\n');
    const [received] = await waitFor('the body', () => {
      const found = requests().filter((each) => each.body.length === 500);
      return found.length > 0 && found;
    });
    expect(received?.headers['content-length']).toBe('500');
    expect(
      requests()
        .slice(before)
        .filter((each) => each.path === path),
    ).toHaveLength(1);
  });

  it('a body of BODY_BYTES_MAX is relayed, and one byte more is refused with 413, declared or not', async () => {
    const before = requests().length;
    const most = await door.send({ path, body: Buffer.alloc(bodyBytesMax) });
    expect(most.statusCode).toBe(202);
    expect(requests().at(before)?.body).toHaveLength(bodyBytesMax);
    const headersOfBoth: Record<string, string>[] = [{}, { 'Transfer-Encoding': 'chunked' }];
    for (const headers of headersOfBoth) {
      const answer = await door.send({ path, headers, body: Buffer.alloc(bodyBytesMax + 1) });
      expect(answer.statusCode).toBe(413);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'body.too_large' } });
    }
    expect(requests()).toHaveLength(before + 1);
  });

  it.each([
    [
      'a header of 9 KiB is refused with 431',
      `GET /health HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(9_216)}\r\n\r\n`,
      431,
    ],
    ['a URL of 9 KiB is refused with 431', `GET /${'a'.repeat(9_216)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    [
      'two Content-Length headers are refused with 400',
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
    ],
    [
      'Content-Length beside chunks is refused with 400',
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    ['a method in lower case is refused with 400', `post ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
  ])('%s in the form of the receivers’ answers', async (_title, text, statusCode) => {
    const socket = await door.connect();
    socket.write(text);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    const [head = '', body = ''] = answer.toString().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${statusCode} `));
    expect(head).toMatch(/^X-Correlation-Id: \w+/m);
    expect(head).toMatch(/^Content-Type: application\/json/m);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: expect.any(String), message: expect.any(String) },
    });
  });

  it.each(['/metrics', '/METRICS', '//metrics', '/health/ready', '/', '/v1', '/v1/webhooks/../../metrics'])(
    '%s is answered 404 and reaches no receiver',
    async (unknown) => {
      const before = requests().length;
      const answer = await door.send({ method: 'GET', path: unknown });
      expect(answer.statusCode).toBe(404);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'path.unknown' } });
      expect(requests()).toHaveLength(before);
    },
  );

  it('a client with 1,000 requests under way is refused with 503, and other clients are not', async () => {
    const sockets: TLSSocket[] = [];
    const open = async () => {
      const socket = await door.connect('127.0.0.7');
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`);
      sockets.push(socket);
    };
    // nginx ends a request whose body does not go on: the first ones must last until the last one is there.
    const feeding = setInterval(() => sockets.forEach((socket) => socket.write('x')), 1_000);
    for (let batch = 0; batch < 20; batch += 1) await Promise.all(Array.from({ length: 50 }, open));
    const refused = await waitFor('the limit', async () => {
      const answer = await door.send({ path, from: '127.0.0.7' });
      return answer.statusCode === 503 && answer;
    });
    expect(refused.headers['retry-after']).toBe('2');
    expect((await door.send({ path, from: '127.0.0.8' })).statusCode).toBe(202);
    clearInterval(feeding);
    for (const socket of sockets) socket.destroy();
  });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { postWebhook, signAsProvider } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { describe, expect, it } from 'vitest';
import { chunksOf64KiB, openReceiverWorld, sendRaw } from './receiver-world.ts';

const bodyBytesMax = 100_000;
const world = await openReceiverWorld({ BODY_BYTES_MAX: String(bodyBytesMax) });

describe('a body over the limit', () => {
  it('a body over the limit is refused by its declared length, before it is read', async () => {
    const project = await seedProject(world);
    const answer = await sendRaw(world.webhooksUrl(project.id), { body: Buffer.alloc(bodyBytesMax + 1) });
    expectTooLarge(answer);
    const [row] = await world.waitForLogs(project.id, 'rejected');
    expect(row).toMatchObject({ payload_bytes: bodyBytesMax + 1, reason: 'body.too_large' });
    expect(await world.payloadOf(row!.id)).toBeUndefined();
  });

  it('a body over the limit is refused when it is sent in chunks without a declared length', async () => {
    const project = await seedProject(world);
    expectTooLarge(await sendRaw(world.webhooksUrl(project.id), { body: chunksOf64KiB(2) }));
  });

  it.each([
    ['declared', ['Content-Length', String(128 * 65_536)]],
    ['in chunks', []],
  ])('a body over the limit is answered while its sender is still sending (%s)', async (_name, headers) => {
    const project = await seedProject(world);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        sendRaw(world.webhooksUrl(project.id), { headers, body: chunksOf64KiB(128) }),
      ),
    );
    for (const answer of answers) expectTooLarge(answer);
  });

  it('the connection of a body over the limit is closed when its sender neither sends more nor closes it', async () => {
    const project = await seedProject(world);
    const socket = open(project.id, { 'Content-Length': String(bodyBytesMax + 1) });
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write('a');
    const { undisturbedMs } = await measureUndisturbed(() => once(socket, 'close'));
    expect(undisturbedMs).toBeLessThan(5_000);
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
  });
});

it('a signed body in one-byte chunks is answered 400, and the connection is closed', async () => {
  const project = await seedProject(world);
  const body = Buffer.alloc(50_000, 0x61);
  const socket = open(project.id, { 'Transfer-Encoding': 'chunked', ...signAsProvider(project, body) });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  socket.write(`${'1\r\na\r\n'.repeat(body.length)}0\r\n\r\n`);
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('"body.absurd_chunks"');
});

it('a body that stops arriving is answered 408 after five seconds', async () => {
  const project = await seedProject(world);
  const socket = open(project.id, { 'Content-Length': '1000' });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  socket.write('{');
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(received).toContain('"request.timeout"');
});

it('a body of exactly the limit is accepted, with a declared length or in chunks', async () => {
  const project = await seedProject(world);
  const body = Buffer.alloc(bodyBytesMax, 0x61);
  const headers = Object.entries(signAsProvider(project, body)).flat();
  for (const sent of [body, [body.subarray(0, 5), body.subarray(5)]]) {
    const answer = await sendRaw(world.webhooksUrl(project.id), { headers, body: sent });
    expect(answer.statusCode).toBe(202);
  }
});

it('a sender that closes the connection in the middle of a body leaves no row and no key', async () => {
  const project = await seedProject(world);
  const body = Buffer.from('{"event":"payment.captured"}');
  const socket = open(project.id, { 'Content-Length': '5000', ...signAsProvider(project, body) });
  socket.end(body);
  await once(socket.resume(), 'close');
  expect((await postWebhook(world.url, project)).statusCode).toBe(202);
  expect(await world.logsOf(project.id)).toHaveLength(1);
});

/** A connection on which the head of a request was sent. */
function open(projectId: string, headers: Record<string, string>) {
  const { hostname, port, host } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`POST /v1/webhooks/${projectId} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  return socket;
}

function expectTooLarge(answer: { statusCode: number; text: string }) {
  expect(answer.statusCode).toBe(413);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'body.too_large' } });
}

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bufferOverheadBytes } from './body-pieces.ts';
import { BodyReader, type BodyLimits } from './read-body.ts';

/** A request whose body the test writes. */
function requestOf(contentLength?: number): PassThrough & IncomingMessage {
  const headers = contentLength === undefined ? {} : { 'content-length': String(contentLength) };
  return Object.assign(new PassThrough(), { headers, socket: {} }) as never;
}

function readerOf(limits: Partial<BodyLimits> & Pick<BodyLimits, 'bodyBytesMax'>): BodyReader {
  return new BodyReader({
    unverifiedBytesMax: 1 << 20,
    incompleteBytesPerAddressMax: 1 << 20,
    slowAfterMs: 10_000,
    deadlineMs: 60_000,
    ...limits,
  });
}

const sender = '192.0.2.1';

describe('a body', () => {
  it('a body is read as the bytes that the sender wrote', async () => {
    const request = requestOf();
    const read = readerOf({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 }).read(request, sender);
    request.write('a\0');
    request.end(Buffer.from([0xff]));
    expect(await read).toEqual({ kind: 'read', body: Buffer.from([0x61, 0, 0xff]) });
  });

  it('a body over the limit is refused, whatever length was declared', async () => {
    const reader = readerOf({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 });
    expect(await reader.read(requestOf(11), sender)).toEqual({ kind: 'too_large', bytes: 11 });
    const request = requestOf(5);
    const read = reader.read(request, sender);
    request.end('twelve bytes');
    expect(await read).toEqual({ kind: 'too_large', bytes: 12 });
  });

  it('a body whose sender closes the connection is aborted', async () => {
    const request = requestOf();
    const read = readerOf({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 }).read(request, sender);
    request.write('half');
    request.destroy();
    expect(await read).toEqual({ kind: 'aborted' });
  });
});

describe('a body in small chunks', () => {
  const limits = { bodyBytesMax: 200_000, unverifiedBytesMax: 1 << 20 };

  async function readInChunks(count: number, bytes: number) {
    const request = requestOf();
    request.headers['transfer-encoding'] = 'chunked';
    const read = readerOf(limits).read(request, sender);
    for (let i = 0; i < count; i += 1) request.write(Buffer.alloc(bytes, 0x61));
    request.end();
    return (await read).kind;
  }

  it('a body in a thousand chunks of one byte is read', async () => {
    expect(await readInChunks(1_000, 1)).toBe('read');
  });

  it('a body in many chunks of 64 bytes is read', async () => {
    expect(await readInChunks(3_000, 64)).toBe('read');
  });

  it('a body in many chunks of a few bytes is refused', async () => {
    expect(await readInChunks(1_500, 1)).toBe('absurd_chunks');
    expect(await readInChunks(3_000, 32)).toBe('absurd_chunks');
  });
});

describe('the unverified bodies of a process', () => {
  const tenBytes = '0123456789';

  async function readAll(reader: BodyReader, text: string) {
    const request = requestOf();
    const read = reader.read(request, sender);
    request.end(text);
    return (await read).kind;
  }

  it('the bytes of unverified bodies are bounded until they are released', async () => {
    const reader = readerOf({ bodyBytesMax: 1_000, unverifiedBytesMax: 25 + bufferOverheadBytes });
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('overloaded');
    expect((await reader.read(requestOf(10 + bufferOverheadBytes), sender)).kind).toBe('overloaded');
    reader.release(10);
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the bytes of unverified bodies do not include bodies that were refused or aborted', async () => {
    const reader = readerOf({ bodyBytesMax: 10, unverifiedBytesMax: 25 + bufferOverheadBytes });
    for (let i = 0; i < 10; i += 1) expect(await readAll(reader, `${tenBytes}!`)).toBe('too_large');
    for (let i = 0; i < 10; i += 1) {
      const request = requestOf();
      const read = reader.read(request, sender);
      request.write(tenBytes);
      request.destroy();
      await read;
    }
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the memory that Node needs for a buffer counts, so that bodies of a few bytes are bounded too', async () => {
    const reader = readerOf({ bodyBytesMax: 10, unverifiedBytesMax: 100 * bufferOverheadBytes });
    const stalled = Array.from({ length: 200 }, () => {
      const request = requestOf();
      request.write('a');
      return reader.read(request, sender);
    });
    const overloaded = stalled.map(async (read) => expect((await read).kind).toBe('overloaded'));
    await Promise.race(overloaded);
  });
});

describe('bodies that stop arriving', () => {
  const body = Buffer.alloc(100_000, 0x61);
  const limits = { bodyBytesMax: 100_000, unverifiedBytesMax: 1_100_000 };

  function stall(reader: BodyReader, address: string, bytes = body.length - 1) {
    const request = requestOf(body.length);
    const result = reader.read(request, address);
    request.write(body.subarray(0, bytes));
    return result;
  }

  async function readWhole(reader: BodyReader, address: string) {
    const request = requestOf(body.length);
    const result = reader.read(request, address);
    request.end(body);
    return (await result).kind;
  }

  /** Resolves after every written piece has been read. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('bodies of one address that stop arriving leave room for the bodies of others', async () => {
    const reader = readerOf({ ...limits, incompleteBytesPerAddressMax: 500_000 });
    for (let i = 0; i < 20; i += 1) void stall(reader, '192.0.2.66');
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
    expect(await readWhole(reader, '192.0.2.66')).toBe('overloaded');
  });

  it('bodies from the addresses of one IPv6 network share a budget', async () => {
    const reader = readerOf({ ...limits, incompleteBytesPerAddressMax: 500_000 });
    for (let i = 0; i < 20; i += 1) void stall(reader, `2001:db8:0:6::${i}`);
    await settled();
    expect(await readWhole(reader, '2001:db8:0:1::1')).toBe('read');
    expect(await readWhole(reader, '2001:db8:0:6::ff')).toBe('overloaded');
  });

  it('a body that is slow is evicted, the slowest first, when its address is over its budget', async () => {
    const reader = readerOf({ ...limits, incompleteBytesPerAddressMax: 500_000, slowAfterMs: 0 });
    const stalled = Array.from({ length: 5 }, () => stall(reader, '192.0.2.66'));
    await settled();
    expect(await readWhole(reader, '192.0.2.66')).toBe('read');
    expect((await stalled[0])?.kind).toBe('too_slow');
    expect(await Promise.race([stalled[4], Promise.resolve('still arriving')])).toBe('still arriving');
  });

  it('a body that is slow is evicted when the process is over its budget', async () => {
    const reader = readerOf({ ...limits, slowAfterMs: 0 });
    const stalled = Array.from({ length: 10 }, (_, i) => stall(reader, `198.51.100.${i}`));
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
    expect((await stalled[0])?.kind).toBe('too_slow');
  });

  it('small bodies of a thousand connections of one address do not count for it', async () => {
    const reader = readerOf({
      ...limits,
      unverifiedBytesMax: 64 << 20,
      incompleteBytesPerAddressMax: 100_000,
    });
    for (let i = 0; i < 1_000; i += 1) void stall(reader, '192.0.2.1', 15_000);
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
  });

  it('bodies that are complete do not count for their address', async () => {
    const reader = readerOf({ ...limits, incompleteBytesPerAddressMax: 150_000 });
    for (let i = 0; i < 10; i += 1) expect(await readWhole(reader, '192.0.2.1')).toBe('read');
  });

  it('a body is too slow after its deadline, however few bytes it holds', async () => {
    const reader = readerOf({ ...limits, deadlineMs: 50 });
    expect((await stall(reader, '192.0.2.1', 0)).kind).toBe('too_slow');
  });
});

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
    heldBytesMax: 1 << 20,
    largeBytesMax: 1 << 30,
    roomWithinMs: 50,
    slowAfterMs: 10_000,
    deadlineMs: 60_000,
    ...limits,
  });
}

const sender = '192.0.2.1';

/** Resolves after every written piece has been read. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

function read(reader: BodyReader, text: string, declared?: number, address = sender) {
  const request = requestOf(declared);
  const result = reader.read(request, address);
  request.end(text);
  return result;
}

const readAll = async (reader: BodyReader, text: string) => (await read(reader, text)).kind;

describe('a body', () => {
  it('a body is read as the bytes that the sender wrote', async () => {
    const request = requestOf();
    const read = readerOf({ bodyBytesMax: 10, heldBytesMax: 10_000 }).read(request, sender);
    request.write('a\0');
    request.end(Buffer.from([0xff]));
    expect(await read).toMatchObject({ kind: 'read', body: Buffer.from([0x61, 0, 0xff]) });
  });

  it('a body over the limit is refused, whatever length was declared', async () => {
    const reader = readerOf({ bodyBytesMax: 10, heldBytesMax: 10_000 });
    expect(await reader.read(requestOf(11), sender)).toEqual({ kind: 'too_large', bytes: 11 });
    const request = requestOf(5);
    const read = reader.read(request, sender);
    request.end('twelve bytes');
    expect(await read).toEqual({ kind: 'too_large', bytes: 12 });
  });

  it('a body whose sender closes the connection is aborted', async () => {
    const request = requestOf();
    const read = readerOf({ bodyBytesMax: 10, heldBytesMax: 10_000 }).read(request, sender);
    request.write('half');
    request.destroy();
    expect(await read).toEqual({ kind: 'aborted' });
  });
});

describe('a body in small chunks', () => {
  const limits = { bodyBytesMax: 200_000, heldBytesMax: 1 << 20 };

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

describe('the bodies that a process holds', () => {
  const tenBytes = '0123456789';

  it('the bytes of bodies are bounded until they are released', async () => {
    const reader = readerOf({ bodyBytesMax: 1_000, heldBytesMax: 25 + bufferOverheadBytes });
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('overloaded');
    reader.release(10);
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the bytes of bodies do not include bodies that were refused or aborted', async () => {
    const reader = readerOf({ bodyBytesMax: 10, heldBytesMax: 25 + bufferOverheadBytes });
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
    const reader = readerOf({ bodyBytesMax: 10, heldBytesMax: 100 * bufferOverheadBytes });
    const bodies = Array.from({ length: 200 }, () => {
      const request = requestOf();
      request.write('a');
      return { request, read: reader.read(request, sender) };
    });
    await settled();
    for (const { request } of bodies) request.end();
    const kinds = (await Promise.all(bodies.map(({ read }) => read))).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'overloaded').length).toBeGreaterThan(100);
  });
});

describe('large bodies', () => {
  const large = 'a'.repeat(100_000);
  const roomForTwo = { bodyBytesMax: 100_000, largeBytesMax: 2 * 100_000 };

  it('the bytes of large bodies are bounded until they are released', async () => {
    const reader = readerOf(roomForTwo);
    expect(await readAll(reader, large)).toBe('read');
    expect(await readAll(reader, large)).toBe('read');
    expect(await readAll(reader, large)).toBe('overloaded');
    reader.release(large.length);
    expect(await readAll(reader, large)).toBe('read');
  });

  it('a large body waits for room, and is read when others leave some, in the order they came', async () => {
    const reader = readerOf({ ...roomForTwo, roomWithinMs: 10_000 });
    for (let i = 0; i < 2; i += 1) await readAll(reader, large);
    const waiting = ['a', 'b'].map((letter) => read(reader, letter.repeat(large.length), large.length));
    const isRead = [false, false];
    waiting.forEach((each, i) => void each.then(() => (isRead[i] = true)));
    await settled();
    expect(isRead).toEqual([false, false]);
    reader.release(large.length);
    expect(await waiting[0]).toMatchObject({ kind: 'read', body: Buffer.from('a'.repeat(large.length)) });
    expect(isRead).toEqual([true, false]);
    reader.release(large.length);
    expect(await waiting[1]).toMatchObject({ kind: 'read', waitedMs: expect.any(Number) as number });
  });

  it('a large body that finds no room in time is read to its end and dropped', async () => {
    const reader = readerOf({ ...roomForTwo, roomWithinMs: 20 });
    for (let i = 0; i < 2; i += 1) await readAll(reader, large);
    expect(await read(reader, large, large.length)).toEqual({ kind: 'overloaded', isRead: true });
  });

  it('a large body does not wait where 256 others do', async () => {
    const reader = readerOf({ ...roomForTwo, roomWithinMs: 600_000 });
    for (let i = 0; i < 2; i += 1) await readAll(reader, large);
    for (let i = 0; i < 256; i += 1) void read(reader, large, large.length);
    expect(await read(reader, large, large.length)).toEqual({ kind: 'overloaded', isRead: true });
  });

  it('a large body of unknown length that outgrows the room is dropped, and leaves its room at once', async () => {
    const reader = readerOf(roomForTwo);
    const bodies = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => {
      const request = requestOf();
      const result = reader.read(request, address);
      request.write('a'.repeat(90_000));
      return { request, result };
    });
    await settled();
    for (const { request } of bodies) request.end('!'.repeat(5_000));
    const [first, second, third] = await Promise.all(bodies.map(({ result }) => result));
    expect([first?.kind, second?.kind]).toEqual(['read', 'read']);
    expect(third).toEqual({ kind: 'overloaded', isRead: true });
  });

  it('a sender that closes the connection while its body waits gives up its place', async () => {
    const reader = readerOf({ ...roomForTwo, roomWithinMs: 10_000 });
    for (let i = 0; i < 2; i += 1) await readAll(reader, large);
    const request = requestOf(large.length);
    const gone = reader.read(request, sender);
    const next = read(reader, large, large.length);
    request.destroy();
    expect(await gone).toEqual({ kind: 'aborted' });
    reader.release(large.length);
    expect((await next).kind).toBe('read');
  });

  it('a body whose address has its share waits, and others are read before it', async () => {
    const reader = readerOf({ ...roomForTwo, roomWithinMs: 10_000 });
    const stalled = requestOf(large.length);
    void reader.read(stalled, '192.0.2.66');
    const waiting = read(reader, large, large.length, '192.0.2.66');
    expect((await read(reader, large, large.length, '192.0.2.1')).kind).toBe('read');
    reader.release(large.length);
    stalled.end(large);
    expect((await waiting).kind).toBe('read');
  });

  it('small bodies are read while there is no room for large ones', async () => {
    const reader = readerOf(roomForTwo);
    for (let i = 0; i < 3; i += 1) await readAll(reader, large);
    for (let i = 0; i < 30; i += 1) expect(await readAll(reader, 'a'.repeat(10_000))).toBe('read');
    expect(await readAll(reader, large)).toBe('overloaded');
  });
});

describe('bodies that stop arriving', () => {
  const body = Buffer.alloc(100_000, 0x61);
  const limits = { bodyBytesMax: 100_000, largeBytesMax: 1_000_000 };

  function stall(reader: BodyReader, address: string, bytes = body.length - 1) {
    const request = requestOf(bytes + 1);
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

  it('bodies of one address that stop arriving leave room for the bodies of others', async () => {
    const reader = readerOf(limits);
    for (let i = 0; i < 20; i += 1) void stall(reader, '192.0.2.66');
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
    expect(await readWhole(reader, '192.0.2.66')).toBe('overloaded');
  });

  it('bodies from the addresses of one IPv6 network share a budget', async () => {
    const reader = readerOf(limits);
    for (let i = 0; i < 20; i += 1) void stall(reader, `2001:db8:0:6::${i}`);
    await settled();
    expect(await readWhole(reader, '2001:db8:0:1::1')).toBe('read');
    expect(await readWhole(reader, '2001:db8:0:6::ff')).toBe('overloaded');
  });

  it('a body that is slow is evicted, the slowest first, when its address is over its budget', async () => {
    const reader = readerOf({ ...limits, slowAfterMs: 0 });
    const stalled = Array.from({ length: 5 }, () => stall(reader, '192.0.2.66'));
    await settled();
    expect(await readWhole(reader, '192.0.2.66')).toBe('read');
    expect(await stalled[0]).toEqual({ kind: 'overloaded', isRead: false });
    expect(await Promise.race([stalled[4], Promise.resolve('still arriving')])).toBe('still arriving');
  });

  it('a body that is slow is evicted when others need its room', async () => {
    const reader = readerOf({ ...limits, slowAfterMs: 0 });
    const stalled = Array.from({ length: 11 }, (_, i) => stall(reader, `198.51.100.${i}`));
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
    expect(await stalled[0]).toEqual({ kind: 'overloaded', isRead: false });
    expect(await Promise.race([stalled[10], Promise.resolve('still arriving')])).toBe('still arriving');
  });

  it('an address has room beside eight others that send as much as they may', async () => {
    const reader = readerOf({ ...limits, roomWithinMs: 10_000 });
    for (let i = 0; i < 80; i += 1) void stall(reader, `198.51.100.${i % 8}`);
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
  });

  it('small bodies of a thousand connections of one address do not count for it', async () => {
    const reader = readerOf({ ...limits, heldBytesMax: 64 << 20 });
    for (let i = 0; i < 1_000; i += 1) void stall(reader, '192.0.2.1', 15_000);
    await settled();
    expect(await readWhole(reader, '192.0.2.1')).toBe('read');
  });

  it('bodies that are complete do not count for their address', async () => {
    const reader = readerOf(limits);
    for (let i = 0; i < 10; i += 1) expect(await readWhole(reader, '192.0.2.1')).toBe('read');
  });

  it('a body is too slow after its deadline, however few bytes it holds', async () => {
    const reader = readerOf({ ...limits, deadlineMs: 50 });
    expect((await stall(reader, '192.0.2.1', 0)).kind).toBe('too_slow');
  });
});

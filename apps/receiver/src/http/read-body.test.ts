import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bufferOverheadBytes } from './body-pieces.ts';
import { BodyReader } from './read-body.ts';

/** A request whose body the test writes. */
function requestOf(contentLength?: number): PassThrough & IncomingMessage {
  const headers = contentLength === undefined ? {} : { 'content-length': String(contentLength) };
  return Object.assign(new PassThrough(), { headers }) as never;
}

describe('a body', () => {
  it('a body is read as the bytes that the sender wrote', async () => {
    const request = requestOf();
    const read = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 }).read(request);
    request.write('a\0');
    request.end(Buffer.from([0xff]));
    expect(await read).toEqual({ kind: 'read', body: Buffer.from([0x61, 0, 0xff]) });
  });

  it('a body over the limit is refused, whatever length was declared', async () => {
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 });
    expect(await reader.read(requestOf(11))).toEqual({ kind: 'too_large', bytes: 11 });
    const request = requestOf(5);
    const read = reader.read(request);
    request.end('twelve bytes');
    expect(await read).toEqual({ kind: 'too_large', bytes: 12 });
  });

  it('a body whose sender closes the connection is aborted', async () => {
    const request = requestOf();
    const read = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 10_000 }).read(request);
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
    const read = new BodyReader(limits).read(request);
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
    const read = reader.read(request);
    request.end(text);
    return (await read).kind;
  }

  it('the bytes of unverified bodies are bounded until they are released', async () => {
    const reader = new BodyReader({ bodyBytesMax: 1_000, unverifiedBytesMax: 25 + bufferOverheadBytes });
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('overloaded');
    expect((await reader.read(requestOf(10 + bufferOverheadBytes))).kind).toBe('overloaded');
    reader.release(10);
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the bytes of unverified bodies do not include bodies that were refused or aborted', async () => {
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 25 + bufferOverheadBytes });
    for (let i = 0; i < 10; i += 1) expect(await readAll(reader, `${tenBytes}!`)).toBe('too_large');
    for (let i = 0; i < 10; i += 1) {
      const request = requestOf();
      const read = reader.read(request);
      request.write(tenBytes);
      request.destroy();
      await read;
    }
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the memory that Node needs for a buffer counts, so that bodies of a few bytes are bounded too', async () => {
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 100 * bufferOverheadBytes });
    const stalled = Array.from({ length: 200 }, () => {
      const request = requestOf();
      request.write('a');
      return reader.read(request);
    });
    const overloaded = stalled.map(async (read) => expect((await read).kind).toBe('overloaded'));
    await Promise.race(overloaded);
  });
});

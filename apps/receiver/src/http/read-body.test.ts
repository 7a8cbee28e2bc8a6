import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyReader } from './read-body.ts';

/** A request whose body the test writes. */
function requestOf(contentLength?: number): PassThrough & IncomingMessage {
  const headers = contentLength === undefined ? {} : { 'content-length': String(contentLength) };
  return Object.assign(new PassThrough(), { headers }) as never;
}

describe('a body', () => {
  it('a body is read as the bytes that the sender wrote', async () => {
    const request = requestOf();
    const read = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 100 }).read(request);
    request.write('a\0');
    request.end(Buffer.from([0xff]));
    expect(await read).toEqual({ kind: 'read', body: Buffer.from([0x61, 0, 0xff]) });
  });

  it('a body over the limit is refused, whatever length was declared', async () => {
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 100 });
    expect(await reader.read(requestOf(11))).toEqual({ kind: 'too_large', bytes: 11 });
    const request = requestOf(5);
    const read = reader.read(request);
    request.end('twelve bytes');
    expect(await read).toEqual({ kind: 'too_large', bytes: 12 });
  });

  it('a body whose sender closes the connection is aborted', async () => {
    const request = requestOf();
    const read = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 100 }).read(request);
    request.write('half');
    request.destroy();
    expect(await read).toEqual({ kind: 'aborted' });
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
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 25 });
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('read');
    expect(await readAll(reader, tenBytes)).toBe('overloaded');
    expect((await reader.read(requestOf(10))).kind).toBe('overloaded');
    reader.release(10);
    expect(await readAll(reader, tenBytes)).toBe('read');
  });

  it('the bytes of unverified bodies do not include bodies that were refused or aborted', async () => {
    const reader = new BodyReader({ bodyBytesMax: 10, unverifiedBytesMax: 25 });
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
});

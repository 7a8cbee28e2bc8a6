import type { IncomingMessage } from 'node:http';

export type BodyRead =
  | { kind: 'read'; body: Buffer }
  /** `bytes`: how much was declared, or had come when it was given up. */
  | { kind: 'too_large'; bytes: number }
  /** The process holds as many unverified bytes as it may. */
  | { kind: 'overloaded' }
  | { kind: 'aborted' };

export type BodyLimits = { bodyBytesMax: number; unverifiedBytesMax: number };

/** Reads bodies as bytes, bounded while they stream, one by one and all together. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #unverifiedBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Never rejects. The bytes count as unverified until `release` is called with their number. */
  read(request: IncomingMessage): Promise<BodyRead> {
    const declared = Number(request.headers['content-length'] ?? 0);
    const { bodyBytesMax, unverifiedBytesMax } = this.#limits;
    if (declared > bodyBytesMax) return Promise.resolve({ kind: 'too_large', bytes: declared });
    if (this.#unverifiedBytes + declared > unverifiedBytesMax) return Promise.resolve({ kind: 'overloaded' });
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const settle = (result: BodyRead) => {
        request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
        if (result.kind !== 'read') this.release(bytes);
        resolve(result);
      };
      const onData = (chunk: Buffer) => {
        bytes += chunk.length;
        this.#unverifiedBytes += chunk.length;
        if (bytes > bodyBytesMax) return settle({ kind: 'too_large', bytes });
        if (this.#unverifiedBytes > unverifiedBytesMax) return settle({ kind: 'overloaded' });
        chunks.push(chunk);
      };
      const onEnd = () => {
        settle({
          kind: 'read',
          body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes),
        });
      };
      const onAbort = () => settle({ kind: 'aborted' });
      request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
    });
  }

  release(bytes: number): void {
    this.#unverifiedBytes -= bytes;
  }
}

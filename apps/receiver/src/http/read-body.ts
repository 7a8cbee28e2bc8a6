import type { IncomingMessage } from 'node:http';

export type BodyRead =
  | { kind: 'read'; body: Buffer }
  /** `bytes`: the declared length, or the bytes that had arrived when the limit was passed. */
  | { kind: 'too_large'; bytes: number }
  /** The process holds as many unverified bytes as its limit allows. */
  | { kind: 'overloaded' }
  | { kind: 'aborted' };

export type BodyLimits = { bodyBytesMax: number; unverifiedBytesMax: number };

/** Step 1: reads bodies as bytes while they stream, with one bound for each and one for all that are unverified. */
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
      const finish = (result: BodyRead) => {
        request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
        if (result.kind !== 'read') this.release(bytes);
        resolve(result);
      };
      const onData = (chunk: Buffer) => {
        bytes += chunk.length;
        this.#unverifiedBytes += chunk.length;
        if (bytes > bodyBytesMax) return finish({ kind: 'too_large', bytes });
        if (this.#unverifiedBytes > unverifiedBytesMax) return finish({ kind: 'overloaded' });
        chunks.push(chunk);
      };
      const onEnd = () => {
        finish({
          kind: 'read',
          body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes),
        });
      };
      const onAbort = () => finish({ kind: 'aborted' });
      request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
    });
  }

  release(bytes: number): void {
    this.#unverifiedBytes -= bytes;
  }
}

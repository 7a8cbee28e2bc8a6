import type { IncomingMessage } from 'node:http';
import { BodyPieces } from './body-pieces.ts';

export type BodyRead =
  | { kind: 'read'; body: Buffer }
  /** `bytes`: the declared length, or the bytes that had arrived when the limit was passed. */
  | { kind: 'too_large'; bytes: number }
  /** The process holds as many unverified bytes as its limit allows. */
  | { kind: 'overloaded' }
  /** The body is sent in many chunks of a few bytes. */
  | { kind: 'absurd_chunks' }
  | { kind: 'aborted' };

export type BodyLimits = { bodyBytesMax: number; unverifiedBytesMax: number };

/** Node spends about 2 µs and 440 bytes on each chunk, however small: a body may have this many, and beyond that one for 64 bytes. */
const chunksMax = 1_024;
const bytesPerChunkMin = 64;

/** Step 1: reads bodies as bytes while they stream, with one bound for each and one for all that are unverified. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #unverifiedBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Never rejects. The bytes of a body that was read count as unverified until `release` is called with their number. */
  read(request: IncomingMessage): Promise<BodyRead> {
    const declared = Number(request.headers['content-length'] ?? 0);
    const { bodyBytesMax, unverifiedBytesMax } = this.#limits;
    if (declared > bodyBytesMax) return Promise.resolve({ kind: 'too_large', bytes: declared });
    if (this.#unverifiedBytes + declared > unverifiedBytesMax) return Promise.resolve({ kind: 'overloaded' });
    return new Promise((resolve) => {
      const pieces = new BodyPieces();
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      const finish = (result: BodyRead) => {
        request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
        this.#unverifiedBytes -= pieces.heldBytes - (result.kind === 'read' ? pieces.bytes : 0);
        resolve(result);
      };
      const onData = (chunk: Buffer) => {
        const heldBytes = pieces.heldBytes;
        pieces.add(chunk);
        this.#unverifiedBytes += pieces.heldBytes - heldBytes;
        if (pieces.bytes > bodyBytesMax) return finish({ kind: 'too_large', bytes: pieces.bytes });
        if (isChunked && pieces.count - chunksMax > pieces.bytes / bytesPerChunkMin)
          return finish({ kind: 'absurd_chunks' });
        if (this.#unverifiedBytes > unverifiedBytesMax) finish({ kind: 'overloaded' });
      };
      const onEnd = () => finish({ kind: 'read', body: pieces.concat() });
      const onAbort = () => finish({ kind: 'aborted' });
      request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
    });
  }

  release(bytes: number): void {
    this.#unverifiedBytes -= bytes;
  }
}

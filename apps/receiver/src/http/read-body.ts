import type { IncomingMessage } from 'node:http';
import { skipRest } from '@hqrelay/runtime/http/skip-rest';
import { BodyPieces } from './body-pieces.ts';
import { IncompleteBodies, type IncompleteBody, type IncompleteLimits } from './incomplete-bodies.ts';

export type BodyRead =
  | { kind: 'read'; body: Buffer }
  /** `bytes`: the declared length, or the bytes that had arrived when the limit was passed. */
  | { kind: 'too_large'; bytes: number }
  /** The process holds as many unverified bytes as its limit allows. */
  | { kind: 'overloaded' }
  /** The body is sent in many chunks of a few bytes. */
  | { kind: 'absurd_chunks' }
  /** The body passed its deadline, or was the slowest when room was needed for others. */
  | { kind: 'too_slow' }
  | { kind: 'aborted' };

export type BodyLimits = IncompleteLimits & { bodyBytesMax: number; unverifiedBytesMax: number };

/** Node spends about 1.5 µs and 440 bytes on each chunk, however small: a body may have this many, and beyond that one for 64 bytes. */
const chunksMax = 1_024;
const bytesPerChunkMin = 64;

/** Step 1: reads bodies as bytes while they stream, with one bound for each and one for all that are unverified. */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #incomplete: IncompleteBodies;
  #unverifiedBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
    this.#incomplete = new IncompleteBodies(limits);
  }

  /**
   * Never rejects. `address` is the sender's. The bytes of a body that was read count as unverified until `release` is called
   * with their number.
   */
  read(request: IncomingMessage, address: string): Promise<BodyRead> {
    const declared = Number(request.headers['content-length'] ?? 0);
    const { bodyBytesMax } = this.#limits;
    if (declared > bodyBytesMax) return Promise.resolve({ kind: 'too_large', bytes: declared });
    if (!this.#hasRoomFor(declared)) return Promise.resolve({ kind: 'overloaded' });
    return new Promise((resolve) => {
      const pieces = new BodyPieces();
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      const body = this.#incomplete.add(address, () => finish({ kind: 'too_slow' }));
      let isFinished = false;
      const finish = (result: BodyRead) => {
        // To make room for others, a body may evict itself.
        if (isFinished) return;
        isFinished = true;
        this.#incomplete.remove(body);
        this.#unverifiedBytes -= pieces.heldBytes - (result.kind === 'read' ? pieces.bytes : 0);
        if (result.kind !== 'read') {
          // A body that has ended has no more events but 'close', which changes nothing.
          request.off('data', onData).off('end', onEnd).off('close', onAbort).off('error', onAbort);
          skipRest(request);
        }
        resolve(result);
      };
      const onData = (chunk: Buffer) => {
        const heldBytes = pieces.heldBytes;
        pieces.add(chunk);
        this.#unverifiedBytes += pieces.heldBytes - heldBytes;
        if (pieces.bytes > bodyBytesMax) finish({ kind: 'too_large', bytes: pieces.bytes });
        else if (isChunked && isAbsurd(pieces)) finish({ kind: 'absurd_chunks' });
        else if (!this.#hasRoom(body, pieces.heldBytes)) finish({ kind: 'overloaded' });
      };
      const onEnd = () => finish({ kind: 'read', body: pieces.concat() });
      const onAbort = () => finish({ kind: 'aborted' });
      request.on('data', onData).on('end', onEnd).on('close', onAbort).on('error', onAbort);
      // Otherwise Node parses the chunks of a whole read before the first of them arrives here.
      if (isChunked) request.read(0);
    });
  }

  release(bytes: number): void {
    this.#unverifiedBytes -= bytes;
  }

  #hasRoom(body: IncompleteBody, heldBytes: number): boolean {
    return this.#incomplete.holds(body, heldBytes) && this.#hasRoomFor(0);
  }

  /** Evicts slow bodies until the process has room for as many bytes. */
  #hasRoomFor(bytes: number): boolean {
    while (this.#unverifiedBytes + bytes > this.#limits.unverifiedBytesMax) {
      if (!this.#incomplete.evictSlowest()) return false;
    }
    return true;
  }
}

function isAbsurd({ count, bytes }: BodyPieces): boolean {
  return count - chunksMax > bytes / bytesPerChunkMin;
}

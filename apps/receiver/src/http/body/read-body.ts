import type { IncomingMessage } from 'node:http';
import { skipRest } from '@hqrelay/runtime/http/skip-rest';
import { BodyPieces } from './body-pieces.ts';
import { BodyRoom, type RoomLimits } from './body-room.ts';
import { largeBytesOf, type EvictReason, type IncompleteBody } from './incomplete-bodies.ts';

export type BodyRead =
  /** `waitedMs`: how long the body waited for room before it was read. */
  | { kind: 'read'; body: Buffer; waitedMs: number }
  /** `bytes`: the declared length, or the bytes that had arrived when the limit was passed. */
  | { kind: 'too_large'; bytes: number }
  /** There was no room for the body. `isRead`: whether it arrived to its end, and was dropped. */
  | { kind: 'overloaded'; isRead: boolean }
  /** The body is sent in many chunks of a few bytes. */
  | { kind: 'absurd_chunks' }
  /** The body passed its deadline. */
  | { kind: 'too_slow' }
  | { kind: 'aborted' };

export type BodyLimits = RoomLimits & { bodyBytesMax: number };

/** Node spends about 1.5 µs and 440 bytes on each chunk, however small: a body may have this many, and beyond that one for 64 bytes. */
const chunksMax = 1_024;
const bytesPerChunkMin = 64;

/** Step 1: reads bodies as bytes while they stream, with a bound for each, and room for all of them. */
export class BodyReader {
  readonly #bodyBytesMax: number;
  readonly #room: BodyRoom;

  constructor({ bodyBytesMax, ...limits }: BodyLimits) {
    this.#bodyBytesMax = bodyBytesMax;
    this.#room = new BodyRoom(limits);
  }

  /**
   * Never rejects. `address` is the sender's. The bytes of a body that was read are held until `release` is called with their
   * number. A body that finds no room is read to its end and dropped: many senders do not see an answer that comes before.
   */
  read(request: IncomingMessage, address: string): Promise<BodyRead> {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > this.#bodyBytesMax) return Promise.resolve({ kind: 'too_large', bytes: declared });
    const bodyBytesMax = this.#bodyBytesMax;
    const room = this.#room;
    return new Promise((resolve) => {
      const reading = new BodyReading({ request, address, bodyBytesMax, room }, resolve);
      if (largeBytesOf(declared) > 0) reading.beginWithRoom(declared);
      else reading.begin();
    });
  }

  release(bytes: number): void {
    this.#room.release(bytes);
  }
}

type BodyToRead = { request: IncomingMessage; address: string; bodyBytesMax: number; room: BodyRoom };

class BodyReading {
  readonly #request: IncomingMessage;
  readonly #room: BodyRoom;
  readonly #bodyBytesMax: number;
  readonly #resolve: (result: BodyRead) => void;
  readonly #body: IncompleteBody;
  readonly #isChunked: boolean;
  readonly #pieces = new BodyPieces();
  /** The declared length of a large body: it has this room from its beginning. */
  #reservedBytes = 0;
  #waitedMs = 0;
  #giveUpWaiting: (() => void) | undefined;
  #isFinished = false;

  constructor({ request, address, bodyBytesMax, room }: BodyToRead, resolve: (result: BodyRead) => void) {
    this.#request = request;
    this.#room = room;
    this.#bodyBytesMax = bodyBytesMax;
    this.#resolve = resolve;
    this.#isChunked = request.headers['transfer-encoding'] !== undefined;
    this.#body = room.enter(address, this.#evict);
    request.on('end', this.#onEnd).on('close', this.#onAbort).on('error', this.#onAbort);
  }

  begin(): void {
    this.#request.on('data', this.#onData);
    // Otherwise Node parses the chunks of a whole read before the first of them arrives here.
    if (this.#isChunked) this.#request.read(0);
  }

  beginWithRoom(declaredBytes: number): void {
    const startedAt = performance.now();
    this.#giveUpWaiting = this.#room.wait(this.#body, declaredBytes, (fits) => {
      this.#waitedMs = performance.now() - startedAt;
      this.#reservedBytes = declaredBytes;
      if (!fits || !this.#room.hold(this.#body, declaredBytes)) this.#drop();
      this.begin();
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    const pieces = this.#pieces;
    pieces.add(chunk);
    if (pieces.bytes > this.#bodyBytesMax) this.#finish({ kind: 'too_large', bytes: pieces.bytes });
    else if (this.#isChunked && isAbsurd(pieces)) this.#finish({ kind: 'absurd_chunks' });
    else if (pieces.isDropped || pieces.bytes <= this.#reservedBytes) return;
    else if (!this.#room.hold(this.#body, pieces.heldBytes)) this.#drop();
  };

  readonly #onEnd = (): void => {
    const pieces = this.#pieces;
    if (pieces.isDropped) this.#finish({ kind: 'overloaded', isRead: true });
    else this.#finish({ kind: 'read', body: pieces.concat(), waitedMs: this.#waitedMs });
  };

  readonly #onAbort = (): void => this.#finish({ kind: 'aborted' });

  readonly #evict = (reason: EvictReason): void =>
    this.#finish(reason === 'late' ? { kind: 'too_slow' } : { kind: 'overloaded', isRead: false });

  #drop(): void {
    // To make room for others, a body may have evicted itself.
    if (this.#isFinished) return;
    this.#pieces.drop();
    this.#room.drop(this.#body);
  }

  #finish(result: BodyRead): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#giveUpWaiting?.();
    this.#room.leave(this.#body, result.kind === 'read' ? result.body.length : 0);
    if (!isRead(result)) {
      // A body that has ended has no more events but 'close', which changes nothing.
      const request = this.#request.off('data', this.#onData).off('end', this.#onEnd);
      skipRest(request.off('close', this.#onAbort).off('error', this.#onAbort));
    }
    this.#resolve(result);
  }
}

function isRead(result: BodyRead): boolean {
  return result.kind === 'read' || (result.kind === 'overloaded' && result.isRead);
}

function isAbsurd({ count, bytes }: BodyPieces): boolean {
  return count - chunksMax > bytes / bytesPerChunkMin;
}

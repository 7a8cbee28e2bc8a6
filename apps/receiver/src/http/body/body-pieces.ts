/** What Node 20 needs for a buffer beside its bytes: about 440 bytes were measured with a million one-byte chunks. */
export const bufferOverheadBytes = 512;

const smallBytes = 2_048;
const firstTailBytes = 1_024;
const largestTailBytes = 65_536;

/**
 * The pieces of a body in the order of their arrival. The first piece and large ones are kept as they are; small ones after
 * the first are copied into larger buffers, because a buffer for each would need many times the memory of its bytes.
 */
export class BodyPieces {
  readonly #buffers: Buffer[] = [];
  #tail: Buffer | undefined;
  #tailUsed = 0;
  #bytes = 0;
  #heldBytes = 0;
  #count = 0;
  #isDropped = false;

  /** The length of the body so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The memory of the body so far, with what Node needs for its buffers. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** How many pieces were added. */
  get count(): number {
    return this.#count;
  }

  /** Whether the body cannot be had any more, after `drop`. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  add(piece: Buffer): void {
    this.#count += 1;
    if (!this.#isDropped) this.#store(piece);
    this.#bytes += piece.length;
  }

  /** Keeps neither the pieces so far nor later ones; they are still counted. */
  drop(): void {
    this.#isDropped = true;
    this.#buffers.length = 0;
    this.#tail = undefined;
    this.#heldBytes = 0;
  }

  /** Returns the body and lets go of the pieces: listeners of the request may refer to this object for as long as it lives. */
  concat(): Buffer {
    this.#endTail();
    const pieces = this.#buffers.splice(0);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, this.#bytes);
  }

  #store(piece: Buffer): void {
    if (this.#count === 1 || piece.length >= smallBytes) this.#keep(piece);
    else this.#copy(piece);
  }

  #keep(piece: Buffer): void {
    this.#endTail();
    this.#buffers.push(piece);
    this.#heldBytes += piece.length + bufferOverheadBytes;
  }

  #copy(piece: Buffer): void {
    let copied = 0;
    while (copied < piece.length) {
      if (!this.#tail || this.#tailUsed === this.#tail.length) this.#startTail();
      const bytes = piece.copy(this.#tail as Buffer, this.#tailUsed, copied);
      this.#tailUsed += bytes;
      copied += bytes;
    }
  }

  #startTail(): void {
    this.#endTail();
    const size = Math.min(largestTailBytes, Math.max(firstTailBytes, this.#bytes));
    // Not from Node's shared pool: a slice of it would keep the whole pool in memory.
    this.#tail = Buffer.allocUnsafeSlow(size);
    this.#tailUsed = 0;
    this.#heldBytes += size + bufferOverheadBytes;
  }

  #endTail(): void {
    if (this.#tail) this.#buffers.push(this.#tail.subarray(0, this.#tailUsed));
    this.#tail = undefined;
  }
}

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { BodyPieces, bufferOverheadBytes } from './body-pieces.ts';

function piecesOf(body: Buffer, sizes: (index: number) => number): BodyPieces {
  const pieces = new BodyPieces();
  for (let at = 0, index = 0; at < body.length; index += 1) {
    const end = Math.min(body.length, at + sizes(index));
    pieces.add(Buffer.from(body.subarray(at, end)));
    at = end;
  }
  return pieces;
}

it.each([
  ['one byte each', () => 1],
  ['of 100 bytes', () => 100],
  ['of 64 KiB', () => 65_536],
  ['small and large in turn', (index: number) => (index % 2 === 0 ? 7 : 3_000)],
  ['of growing size', (index: number) => index + 1],
])('a body in pieces %s is joined to the same bytes', (_sizes, sizes) => {
  const body = randomBytes(150_001);
  const pieces = piecesOf(body, sizes);
  expect(pieces.bytes).toBe(body.length);
  expect(pieces.concat().equals(body)).toBe(true);
});

it('a body without pieces is empty', () => {
  expect(new BodyPieces().concat()).toEqual(Buffer.alloc(0));
});

it('a body in one piece is that piece, without a copy', () => {
  const pieces = new BodyPieces();
  const piece = Buffer.from('{"event":"payment.captured"}');
  pieces.add(piece);
  expect(pieces.concat()).toBe(piece);
  expect(pieces.heldBytes).toBe(piece.length + bufferOverheadBytes);
});

it('a body in one-byte pieces holds at most three times its bytes, and all that it holds is counted', () => {
  const before = process.memoryUsage();
  const pieces = piecesOf(Buffer.alloc(1 << 20), () => 1);
  expect(pieces.heldBytes).toBeGreaterThanOrEqual(1 << 20);
  expect(pieces.heldBytes).toBeLessThan(3 << 20);
  expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(64 << 20);
});

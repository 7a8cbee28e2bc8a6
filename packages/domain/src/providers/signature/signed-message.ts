import { createHmac } from 'node:crypto';
import { renderPieces, type TemplateValues } from '../request/template.ts';

/** `isComplete`: whether every part of the message was there; those that were not are left out. */
export type Message = { pieces: readonly Buffer[]; isComplete: boolean };

/** The bytes that a template stands for. */
export function messageOf(template: string, values: TemplateValues): Message {
  const pieces: Buffer[] = [];
  const isComplete = renderPieces(template, values, (piece) => {
    pieces.push(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  });
  return { pieces, isComplete };
}

export function hmacOf(alg: string, key: Uint8Array, { pieces }: Message): Buffer {
  const hmac = createHmac(alg, key);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}

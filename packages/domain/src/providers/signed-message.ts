import { createHmac, type Hmac } from 'node:crypto';
import { renderPieces, type TemplateValues } from './template.ts';

export type Message = { bytes: () => Buffer; addTo: (hmac: Hmac) => Hmac; isComplete: boolean };

/** The bytes that a template stands for. Pieces that are absent are left out, and make the message incomplete. */
export function messageOf(template: string, values: TemplateValues): Message {
  const pieces: Buffer[] = [];
  const isComplete = renderPieces(template, values, (piece) => {
    pieces.push(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  });
  return {
    isComplete,
    bytes: () => Buffer.concat(pieces),
    addTo: (hmac) => {
      for (const piece of pieces) hmac.update(piece);
      return hmac;
    },
  };
}

export function hmacOf(alg: string, key: Uint8Array, message: Message): Buffer {
  return message.addTo(createHmac(alg, key)).digest();
}

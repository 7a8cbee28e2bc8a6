import { createHmac } from 'node:crypto';
import type { ReasonCode } from '@hqrelay/domain/inbound/rejection-reason';

/** What a project costs during a rotation, when it has two active secrets. */
const hmacsOfRefusal = 2;
const placeholderKey = Buffer.alloc(32, 1);

/**
 * Adds the HMACs that a refused request lacks, so that the time of the answer tells neither whether the project exists nor
 * whether it has one or two secrets. `secretsTried`: how many active secrets its signature was compared with.
 */
export function equaliseWork(code: ReasonCode, secretsTried: number, body: Buffer): void {
  for (let done = hmacsDone(code, secretsTried); done < hmacsOfRefusal; done += 1) {
    createHmac('sha256', placeholderKey).update(body).digest();
  }
}

/** Only a signature of the right form is compared, with a placeholder where there is no secret. */
function hmacsDone(code: ReasonCode, secretsTried: number): number {
  switch (code) {
    case 'signature.missing':
    case 'signature.malformed':
      return 0;
    case 'signature.mismatch':
      return Math.max(1, secretsTried);
    default:
      // The signature was right: its sender has a secret of the project.
      return hmacsOfRefusal;
  }
}

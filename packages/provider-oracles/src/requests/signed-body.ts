import type { Signed, SignInput } from '../provider-case.ts';
import { hmac, unixSeconds } from './signatures.ts';
import { withoutHeader } from './unsigned.ts';

type Format = { alg?: 'sha1' | 'sha256' | 'sha512'; encoding?: 'hex' | 'base64'; prefix?: string };

/** The part of a variant whose header is the HMAC of the body alone. */
export function signedBody(header: string, { alg = 'sha256', encoding = 'hex', prefix = '' }: Format = {}) {
  return {
    covers: 'body' as const,
    sign: ({ body, secret }: SignInput): Signed => ({
      headers: { [header]: prefix + hmac(alg, secret, encoding, body) },
    }),
    unsign: withoutHeader(header),
  };
}

/** The part of a variant with a static token in a header. */
export function staticToken(header: string) {
  return {
    covers: 'bearer' as const,
    sign: ({ secret }: SignInput): Signed => ({ headers: { [header]: secret } }),
    unsign: withoutHeader(header),
  };
}

/** The part of a variant whose header is the HMAC of text, the time in seconds, more text and the body. */
export function signedTimeAndBody(
  headers: { signature: string; time: string },
  { before = '', between = '', prefix = '' }: { before?: string; between?: string; prefix?: string },
) {
  return {
    covers: 'body' as const,
    sign: ({ body, secret, at }: SignInput): Signed => {
      const seconds = unixSeconds(at);
      const signature = prefix + hmac('sha256', secret, 'hex', before, seconds, between, body);
      return { headers: { [headers.time]: seconds, [headers.signature]: signature } };
    },
    unsign: withoutHeader(headers.signature),
  };
}

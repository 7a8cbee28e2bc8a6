import type { HmacScheme } from '../scheme.ts';

/** In seconds. */
export const day = 86_400;

/** HMAC-SHA256 of the body, as most providers sign; `more` replaces any part. */
export function bodyHmac(
  header: string,
  encoding: 'hex' | 'base64',
  more: Partial<HmacScheme> = {},
): HmacScheme {
  return {
    kind: 'hmac',
    alg: 'sha256',
    key: 'utf8',
    encoding,
    signature: { from: `header:${header}` },
    message: '{body}',
    ...more,
  };
}

/** The scheme of Standard Webhooks, in headers that begin with `prefix`. */
export function standardWebhooks(prefix: 'webhook' | 'svix'): HmacScheme {
  return bodyHmac(`${prefix}-signature`, 'base64', {
    key: 'whsec',
    signature: {
      from: `header:${prefix}-signature`,
      list: ' ',
      pair: { separator: ',', tag: 'v1' },
    },
    timestamp: { from: `header:${prefix}-timestamp`, unit: 'seconds', toleranceSeconds: 300 },
    message: `{header:${prefix}-id}.{ts}.{body}`,
  });
}

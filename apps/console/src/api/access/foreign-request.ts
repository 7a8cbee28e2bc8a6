import type { Request } from 'express';
import type { ErrorAnswer } from '../answer.ts';

/** Sent by the pages with every change: another site's page cannot send it without a preflight, which the console refuses. */
const header = 'x-hqrelay-console';

/**
 * Refuses a change that a page of another site may have sent with the cookie of the session. `consoleUrl` is CONSOLE_URL; a proxy
 * in front that ends TLS leaves the host alone to compare.
 */
export function refuseForeignChange(
  request: Request,
  consoleUrl: string | undefined,
): ErrorAnswer | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  if (request.get(header) !== '1') {
    return foreign('a change with the cookie of a session needs the header X-HQRelay-Console: 1');
  }
  const origin = request.get('origin');
  const isOwn =
    origin !== undefined &&
    (origin === consoleUrl || (URL.canParse(origin) && new URL(origin).host === request.get('host')));
  return isOwn ? undefined : foreign('this change comes from a page of another origin than the console');
}

function foreign(message: string): ErrorAnswer {
  return { statusCode: 403, code: 'request.foreign_origin', message };
}

import type { Logger } from '@hqrelay/runtime/logger';
import type { RequestHandler } from 'express';

const advice =
  'A request has X-Forwarded-For, and TRUST_PROXY is not set. Behind a proxy set it: otherwise all browsers share one limit of ' +
  'refused attempts.';

/**
 * Logs once that requests come through a proxy which TRUST_PROXY does not name: all browsers then have the proxy's address, so that
 * the refused attempts of one of them use up the limit of all.
 */
export function warnOfProxy(
  logger: Pick<Logger, 'warn'>,
  trustProxy: boolean | number | string[],
): RequestHandler {
  let isWarned = trustProxy !== false;
  return (request, _response, next) => {
    if (!isWarned && request.get('x-forwarded-for') !== undefined) {
      isWarned = true;
      logger.warn({ remoteAddr: request.ip, advice }, 'proxy.not_trusted');
    }
    next();
  };
}

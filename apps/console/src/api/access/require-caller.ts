import type { Request, RequestHandler, Response } from 'express';
import { sendError } from '../answer.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps } from '../request-context.ts';
import { RequestRate, tooManyRequests } from './request-rate.ts';

/** For each key and session, and for each process of the console. */
const callerRate = { perSecond: 50, burst: 200 };
/** For each address: requests with a key or a session that does not exist. */
const refusedRate = { perSecond: 1, burst: 20 };

/** Puts the caller into `response.locals`, within the limits of the caller and of the address. */
export function requireCaller(deps: ApiDeps): RequestHandler {
  const ofCallers = new RequestRate(callerRate);
  const ofRefused = new RequestRate(refusedRate);
  return async (request: Request, response: Response, next) => {
    const now = deps.now();
    const address = request.ip ?? '';
    const refusedWaitMs = ofRefused.waitOf(address, now);
    if (refusedWaitMs > 0) return sendError(response, tooManyRequests(refusedWaitMs));
    const caller = await authenticate(deps, request, now);
    if ('statusCode' in caller) {
      // Open tabs ask on after their session has ended; they must not lock out other people of their address.
      const isGuess = request.get('authorization') !== undefined || caller.code === 'session.unknown';
      if (isGuess) ofRefused.take(address, now);
      return sendError(response, caller);
    }
    response.locals['caller'] = caller;
    const waitMs = ofCallers.take(caller.id, now);
    if (waitMs > 0) return sendError(response, tooManyRequests(waitMs));
    next();
  };
}

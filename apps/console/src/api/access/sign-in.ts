import { redeemConsoleLink } from '@hqrelay/actions/session/redeem-console-link';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import type { Session } from '@hqrelay/db/queries/sessions';
import { answerOfRefusal, sendError, type ErrorAnswer } from '../answer.ts';
import type { ApiDeps } from '../request-context.ts';
import { RequestRate, tooManyRequests } from './request-rate.ts';
import { readSessionCookie, setSessionCookie } from './cookie.ts';
import { refuseForeignChange } from './foreign-request.ts';

/** For each address: sign-ins that were refused. Many people may share one address. */
const refusedRate = { perSecond: 0.5, burst: 20 };
const bodyBytesMax = 1_024;
const body = z.strictObject({ token: z.string().max(100) });

/** The steps of `POST /api/v1/sessions`: redeems a sign-in link, which no GET does, and sets the cookie of its session. */
export function createSignIn(deps: ApiDeps): RequestHandler[] {
  const rate = new RequestRate(refusedRate);
  return [
    express.json({ limit: bodyBytesMax, inflate: false }),
    (request, response) => signIn(deps, rate, request, response),
  ];
}

async function signIn(deps: ApiDeps, rate: RequestRate, request: Request, response: Response): Promise<void> {
  const address = request.ip ?? '';
  const waitMs = rate.waitOf(address, deps.now());
  if (waitMs > 0) return sendError(response, tooManyRequests(waitMs));
  const answer = await redeem(deps, request);
  if ('statusCode' in answer) {
    rate.take(address, deps.now());
    return sendError(response, answer);
  }
  const { session, token } = answer;
  setSessionCookie({ request, response }, deps.cookie, { token, expiresAt: session.expiresAt });
  response.status(201).json({ returnUrl: session.returnUrl, expiresAt: session.expiresAt.toISOString() });
}

async function redeem(
  { stores, cookie }: ApiDeps,
  request: Request,
): Promise<{ session: Session; token: string } | ErrorAnswer> {
  const foreign = refuseForeignChange(request, cookie.consoleUrl);
  if (foreign) return foreign;
  const { data } = body.safeParse(request.body);
  if (!data) {
    const message = 'Send the token of the sign-in link as {"token"}';
    return { statusCode: 400, code: 'request.invalid', message };
  }
  const tokens = { linkToken: data.token, replacedToken: readSessionCookie(request, cookie) };
  const redeemed = await redeemConsoleLink({ pool: stores.postgres.pool }, tokens);
  return redeemed.kind === 'refused' ? answerOfRefusal(redeemed) : redeemed.value;
}

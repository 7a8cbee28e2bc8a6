import type { Logger } from '@hqrelay/runtime/logger';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { Counter, type Registry } from 'prom-client';
import { sendError } from '../api/answer.ts';
import { RequestRate, tooManyRequests } from '../api/access/request-rate.ts';
import { parseViolation } from './violation.ts';

export const violationsPath = '/api/policy-violations';
/** For the policy of every page. Unlike `report-to`, all browsers have it, also over plain HTTP. */
export const reportDirective = `report-uri ${violationsPath}`;

const bodyBytesMax = 8 << 10;
/** For each address. A page that breaks its policy reports each element once. */
const addressRate = { perSecond: 1, burst: 20 };
/** For the process: more are counted, and not logged. */
const logRate = { perSecond: 1, burst: 10 };

type Deps = { logger: Pick<Logger, 'warn'>; registry: Registry; now: () => number };

/** The steps of `POST /api/policy-violations`, which needs no session: a browser sends none with its reports. */
export function createViolationReports({ logger, registry, now }: Deps): RequestHandler[] {
  const violations = new Counter({
    name: 'hqrelay_policy_violations_total',
    help: 'Rules of the Content-Security-Policy of the console that browsers report as broken, by directive',
    labelNames: ['directive'],
    registers: [registry],
  });
  const ofAddress = new RequestRate(addressRate);
  const ofLog = new RequestRate(logRate);
  const limit: RequestHandler = (request, response, next) => {
    const waitMs = ofAddress.take(request.ip ?? '', now());
    if (waitMs > 0) return sendError(response, tooManyRequests(waitMs));
    next();
  };
  const count = (request: Request, response: Response) => {
    const violation = parseViolation(request.body);
    if (!violation) {
      const message = 'Send the report of a browser as application/csp-report';
      return sendError(response, { statusCode: 400, code: 'request.invalid', message });
    }
    violations.inc({ directive: violation.directive });
    if (ofLog.take('', now()) === 0) logger.warn(violation, 'policy.violated');
    response.status(204).end();
  };
  const parse = express.json({ limit: bodyBytesMax, inflate: false, type: 'application/csp-report' });
  return [limit, parse, count];
}

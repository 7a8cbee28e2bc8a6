import type { Response } from 'express';
import type { ApiRefusal, Reply } from './route.ts';

export type ErrorAnswer = {
  statusCode: number;
  code: string;
  message: string;
  headers?: Readonly<Record<string, string>>;
};

/** Refusals of actions that are about the state of a thing, not about the request. */
const conflicts: ReadonlySet<string> = new Set([
  'project.archived',
  'endpoint.archived',
  'webhook.owes_nothing',
  'webhook.not_replayable',
  'replay_job.ended',
  'delivery.ended',
  'delivery.endpoint_stopped',
  'delivery.behind_another',
  'secret.unreadable',
]);
/** A link is there no more: a retry cannot help. */
const ended: ReadonlySet<string> = new Set(['console_link.expired', 'console_link.used']);

export function answerOfRefusal(refusal: Extract<Reply<never>, { kind: 'refused' }>): ErrorAnswer {
  const { code, message } = refusal;
  return { statusCode: (refusal as Partial<ApiRefusal>).statusCode ?? statusOf(code), code, message };
}

function statusOf(code: string): number {
  if (code.endsWith('.not_found')) return 404;
  if (ended.has(code)) return 410;
  return conflicts.has(code) ? 409 : 400;
}

/** `{"error":{"code","message"}}`, as the receiver answers. */
export function sendError(
  response: Response,
  { statusCode, code, message, headers = {} }: ErrorAnswer,
): void {
  response.locals['code'] = code;
  response.status(statusCode).set(headers).json({ error: { code, message } });
}

import { withTimeout } from '@hqrelay/flow/with-timeout';

/** The broker's answer, or a rejection after `timeoutMs`. */
export function answerWithin<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return withTimeout(answer, timeoutMs, `the broker did not answer within ${timeoutMs} ms`);
}

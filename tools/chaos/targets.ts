import type { HowToAnswer } from './endpoint.ts';

export type EndpointName = 'alone' | 'plain' | 'flaky' | 'slow' | 'open' | 'paused' | 'ordered';

/** An endpoint to start, with its retry schedule. */
export type Target = {
  name: EndpointName;
  how: HowToAnswer;
  retry: string;
  timeoutMs?: number;
  orderingKey?: string;
};

/**
 * The endpoints of each project. `everyEnd`: some deliveries use up their schedule, and some are held. `ordered`: one gets the
 * webhooks of each order in their order.
 */
export function targetsOf({ everyEnd, ordered }: { everyEnd: boolean; ordered: boolean }): Target[][] {
  const target = (name: EndpointName, how = always200(15), retry = '1s,2s,4s,8s') => ({ name, how, retry });
  return [
    [target('alone')],
    [target('plain'), target('flaky', flaky(everyEnd), everyEnd ? '1s,2s' : '1s,1s')],
    [target('slow', always200(80))],
    ...(everyEnd ? [[target('open'), target('paused')]] : []),
    // After a crash a worker's deliveries wait for this timeout and 3 s.
    ...(ordered ? [[{ ...target('ordered', flaky(false)), timeoutMs: 2_000, orderingKey: '/order' }]] : []),
  ];
}

/** Fails one first attempt in sixteen, and with `mayDie` every attempt of one webhook in sixty-four. */
const flaky =
  (mayDie: boolean): HowToAnswer =>
  (webhookId, attemptNum) => {
    if (mayDie && /[0-3]f$/.test(webhookId)) return { statusCode: 500, delayMs: 5 };
    return { statusCode: webhookId.endsWith('0') && attemptNum === 1 ? 503 : 200, delayMs: 5 };
  };

const always200 =
  (delayMs: number): HowToAnswer =>
  () => ({ statusCode: 200, delayMs });

import { startRecordingEndpoint, type RecordedRequest } from '@hqrelay/testing/recording-endpoint';

/** One POST at the endpoint. `at` is `performance.now()`, ms. */
export type Arrival = Pick<RecordedRequest, 'answered'> & { attemptNum: number; at: number };

export type HowToAnswer = (webhookId: string, attemptNum: number) => { statusCode: number; delayMs: number };

export type Endpoint = {
  name: string;
  url: string;
  /** By `webhook-id`, in order of arrival. */
  arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** Requests without an answer yet. */
  inFlight: () => number;
  /** Requests whose sender closed the connection before the answer. */
  cut: () => number;
  /** Stops listening and cuts every connection; `open` listens on the same port again. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  /** While true, no new request gets an answer. */
  hang: (isHanging: boolean) => void;
};

/** A customer's endpoint that indexes what arrives by webhook. */
export async function startEndpoint(name: string, how: HowToAnswer): Promise<Endpoint> {
  const arrivals = new Map<string, Arrival[]>();
  let hangs = false;
  const { url, inFlight, cut, shut, open, answerWith } = await startRecordingEndpoint();
  answerWith((request) => {
    const webhookId = String(request.headers['webhook-id']);
    const attemptNum = Number(request.headers['x-hqrelay-attempt']);
    const arrival: Arrival = Object.assign(request, { attemptNum, at: performance.now() });
    const before = arrivals.get(webhookId);
    if (before) before.push(arrival);
    else arrivals.set(webhookId, [arrival]);
    return hangs ? { instead: 'hang' } : how(webhookId, attemptNum);
  });
  const hang = (isHanging: boolean) => {
    hangs = isHanging;
  };
  return { name, url, arrivals, inFlight, cut, shut, open, hang };
}

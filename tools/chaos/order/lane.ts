import type { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { AppProcess } from '@hqrelay/services/app-process';
import { signAsProvider } from '@hqrelay/testing/provider';
import {
  startRecordingEndpoint,
  type HowToAnswer,
  type RecordingEndpoint,
} from '@hqrelay/testing/recording-endpoint';
import { postAsProvider } from '../../harness/post-as-provider.ts';
import { addProject, type TargetProject } from '../../harness/projects.ts';
import type { Numbered } from './judge-arrivals.ts';
import type { OrderSite } from './order-site.ts';
import type { Answer, Traffic } from './random-round.ts';

/** One schedule under way: a project with one ordered endpoint. */
export type Lane = { project: TargetProject; endpoint: RecordingEndpoint; traffic: Traffic };

/** Enough that no webhook of a round uses it up. */
const retry = Array.from({ length: 30 }, () => '1s').join();
const timeoutMs = 1_000;
const acceptedWithinMs = 60_000;

const answers: Record<Answer, HowToAnswer> = {
  takes: {},
  refuses: { statusCode: 503 },
  hangs: { instead: 'hang' },
  resets: { instead: 'reset' },
  'is slow': { delayMs: 150 },
};

export async function openLane({ world }: OrderSite, traffic: Traffic): Promise<Lane> {
  const endpoint = await startRecordingEndpoint();
  endpoint.answerWith((_, count) => answers[traffic.answers[count - 1] ?? 'takes']);
  const project = await addProject(world, [{ url: endpoint.url, retry, timeoutMs, orderingKey: '/key' }]);
  return { project, endpoint, traffic };
}

export const sentOf = ({ traffic }: Lane): Numbered[] =>
  traffic.webhooks.map(({ key }, number) => ({ key, number }));

export const arrivalsOf = ({ endpoint }: Lane): Numbered[] =>
  endpoint.requests.map(({ body }) => JSON.parse(body.toString()) as Numbered);

/** Whether the endpoint has answered 200 to each webhook. */
export function hasTakenAll({ endpoint, traffic }: Lane): boolean {
  const taken = endpoint.requests.filter(({ answered }) => answered === 200);
  return new Set(taken.map(({ body }) => body.toString())).size === traffic.webhooks.length;
}

/** Sends the webhooks of a schedule in turn to the receivers. Each of a key is sent after the 202 of the one before. */
export async function sendWebhooks(
  lane: Lane,
  receivers: readonly AppProcess[],
  agent: Agent,
): Promise<void> {
  const lastOf = new Map<string, Promise<void>>();
  const sending: Promise<void>[] = [];
  for (const [number, { key, afterMs }] of lane.traffic.webhooks.entries()) {
    await wait(afterMs);
    const send = () => sendUntilAccepted({ project: lane.project, key, number }, receivers, agent);
    const sent = (lastOf.get(key) ?? Promise.resolve()).then(send);
    // The failure of one is the failure of all that follow, and is thrown below.
    sent.catch(() => {});
    lastOf.set(key, sent);
    sending.push(sent);
  }
  await Promise.all(sending);
}

async function sendUntilAccepted(
  { project, key, number }: Numbered & { project: TargetProject },
  receivers: readonly AppProcess[],
  agent: Agent,
): Promise<void> {
  const body = Buffer.from(JSON.stringify({ key, number }));
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-webhook-id': `webhook-${number}`,
    ...signAsProvider(project, body),
  };
  const request = { path: `/v1/webhooks/${project.id}`, headers, body };
  const giveUpAt = performance.now() + acceptedWithinMs;
  for (let tries = number; ; tries += 1) {
    const answer = await postAsProvider(agent, receivers[tries % receivers.length]!.port, request);
    if (answer.outcome === 'accepted') return;
    if (answer.outcome === 'unexpected') throw new Error(`an unexpected answer: ${answer.detail}`);
    if (performance.now() > giveUpAt)
      throw new Error(`no 202 within ${acceptedWithinMs} ms: ${answer.outcome}`);
    await wait(100);
  }
}

import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type HowToAnswer } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import type { PrometheusWorld } from './prometheus-world.ts';

/** What `sendLoad` sends, and what becomes of it. */
export const load = {
  delivered: 40,
  duplicates: 5,
  rejected: 10,
  /** Each is a dead letter after its second attempt. */
  failing: 6,
  /** Each waits ten minutes for its second attempt. */
  delayed: 2,
  paused: 3,
} as const;

export type Sent = {
  projects: Record<'fine' | 'failing' | 'delayed' | 'paused', SeededProject>;
  /** The id of a webhook that became a dead letter. */
  failedId: string;
  close: () => Promise<void>;
};

/** Sends webhooks of every fate. */
export async function sendLoad(world: PrometheusWorld): Promise<Sent> {
  const closes: (() => Promise<void>)[] = [];
  const open = async (how: HowToAnswer, retry?: string) => {
    const endpoint = await startRecordingEndpoint();
    closes.push(endpoint.close);
    endpoint.answerWith(how);
    const project = await seedProject(world);
    const options = { url: endpoint.url, timeoutMs: 120_000, ...(retry !== undefined && { retry }) };
    return { project, endpointId: (await seedEndpoint(world, project.id, options)).id };
  };
  // Slower than the others are on a busy machine.
  const fine = await open({ delayMs: 2_000 });
  const failing = await open({ statusCode: 400 }, '1s');
  const delayed = await open({ statusCode: 400 }, '10m');
  const paused = await open({});
  await world.sql.query('update endpoints set paused = true where id = $1', [paused.endpointId]);

  const send = sender(world.receiver.url);
  await send(fine.project, load.delivered);
  await send(fine.project, load.duplicates);
  await send(fine.project, load.rejected, { headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } });
  const [failedId = ''] = await send(failing.project, load.failing);
  await send(delayed.project, load.delayed);
  await send(paused.project, load.paused);
  return {
    projects: {
      fine: fine.project,
      failing: failing.project,
      delayed: delayed.project,
      paused: paused.project,
    },
    failedId,
    close: async () => void (await Promise.all(closes.map((close) => close()))),
  };
}

/** Sends webhooks with the ids `evt_0`, `evt_1` and so on: sent again to the same project they are duplicates. */
function sender(receiverUrl: string) {
  return async (project: SeededProject, count: number, options: Parameters<typeof postWebhook>[2] = {}) => {
    const ids: string[] = [];
    // One after the other: on a busy machine many at once could be answered 503.
    for (let index = 0; index < count; index += 1) {
      const answer = await postWebhook(receiverUrl, project, { webhookId: `evt_${index}`, ...options });
      if (answer.statusCode === 503) throw new Error(`evt_${index} was answered ${answer.text}`);
      ids.push(answer.body.id ?? '');
    }
    return ids;
  };
}

/** Endpoints of one webhook that do not answer: more than the workers can post to at once. */
export const hangingEndpoints = 60;

/** Sends a large webhook to many endpoints that do not answer. Returns when it was answered, ms since epoch. */
export async function sendHanging(
  world: PrometheusWorld,
): Promise<{ sentAt: number; close: () => Promise<void> }> {
  const endpoint = await startRecordingEndpoint();
  endpoint.answerWith({ instead: 'hang' });
  const project = await seedProject(world);
  for (let count = 0; count < hangingEndpoints; count += 1)
    await seedEndpoint(world, project.id, { url: endpoint.url, timeoutMs: 120_000 });
  const sentAt = Date.now();
  const body = JSON.stringify({ large: 'x'.repeat(40_000) });
  const { statusCode } = await postWebhook(world.receiver.url, project, { body });
  if (statusCode !== 202) throw new Error(`the large webhook was answered ${statusCode}`);
  return { sentAt, close: endpoint.close };
}

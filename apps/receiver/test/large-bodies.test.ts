import { decodeSpill } from '@hqrelay/audit/spill-format';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { decodeMessage } from '@hqrelay/queue/messages';
import { auditQueue, largeQueueOf } from '@hqrelay/queue/topology';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook, signAsProvider, type ProviderAnswer } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { largeBodies, largeBodyBytesMax } from '../src/limits/large-bodies.ts';
import { openReceiverWorld, type LogRow } from './receiver-world.ts';

const world = await openReceiverWorld();
const broker = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
broker.start();
afterAll(() => broker.stop());

const body = Buffer.alloc(1 << 20, 0x61);
const contentType = { 'content-type': 'application/octet-stream' };
let project: SeededProject;
let freeRoom: () => void;

beforeEach(async () => {
  project = await seedProject(world);
  freeRoom = () => {};
});

afterEach(() => freeRoom());

/** Leaves no room for large bodies until `freeRoom` is called. */
async function takeRoom(): Promise<void> {
  await new Promise<void>((taken) => {
    void largeBodies.run(largeBodyBytesMax, () => {
      taken();
      return new Promise<void>((resolve) => (freeRoom = resolve));
    });
  });
}

const post = (webhookId: string) =>
  postWebhook(world.url, project, { webhookId, body, headers: contentType });

/** Repeats the request while it is answered 503, as a provider does. */
function postUntilAccepted(webhookId: string): Promise<ProviderAnswer> {
  return waitFor('a 202', async () => {
    const answer = await post(webhookId);
    return answer.statusCode === 202 && answer;
  });
}

async function contentsOf(queue: string): Promise<Buffer[]> {
  await waitFor('the broker', () => broker.health.isUp);
  const all: Buffer[] = [];
  await broker.pullBatches(queue, { messagesMax: 1_000, bytesMax: 1 << 30 }, async (contents) => {
    all.push(...contents);
    return contents.map(() => false);
  });
  return all;
}

/** The webhooks with a row `queued`, also those whose rows wait in the broker because Postgres was late. */
async function recordedIds(): Promise<string[]> {
  const spilled = (await contentsOf(auditQueue)).flatMap((content) => {
    const spill = decodeSpill(content);
    return spill.kind === 'spill' ? spill.rows : [];
  });
  const queued = spilled.flatMap((row) =>
    row.kind === 'webhook' && row.log.projectId === project.id && row.log.status === 'queued'
      ? [row.log]
      : [],
  );
  const ids = [...(await world.logsOf(project.id, 'queued')), ...queued].map(({ id }) => id);
  return [...new Set(ids)];
}

/** The webhooks whose messages are in the broker, or in the outbox because the broker was late. */
async function publishedIds(): Promise<string[]> {
  const messages = (await contentsOf(largeQueueOf('hqrelay.webhooks'))).flatMap((content) => {
    const decoded = decodeMessage(content);
    return decoded.kind === 'message' ? [decoded.message.envelope.id] : [];
  });
  const { rows } = await world.sql.query<{ id: string }>('select id from outbox');
  return [...messages, ...rows.map(({ id }) => id)];
}

/** Observes the bytes that `largeBodies` admits at once. */
function observeTurns() {
  const turns = { bytes: 0, most: 0 };
  const run = largeBodies.run.bind(largeBodies) as (...args: unknown[]) => Promise<unknown>;
  const observed = (bytes: number, work: () => Promise<unknown>, giveUp?: AbortSignal) => {
    const counted = async () => {
      turns.bytes += bytes;
      turns.most = Math.max(turns.most, turns.bytes);
      return work().finally(() => (turns.bytes -= bytes));
    };
    return run(bytes, counted, giveUp);
  };
  largeBodies.run = observed;
  return turns;
}

it('many large webhooks at once are all accepted, recorded and published, within the bound of their bytes', async () => {
  const turns = observeTurns();
  const answers = await Promise.all(Array.from({ length: 24 }, () => postUntilAccepted(freshId())));
  const ids = answers.map((answer) => answer.body.id!);
  expect(new Set(ids).size).toBe(24);
  expect(turns.most).toBeGreaterThanOrEqual(body.length);
  expect(turns.most).toBeLessThanOrEqual(largeBodyBytesMax);
  expect(await recordedIds()).toEqual(expect.arrayContaining(ids));
  expect(await publishedIds()).toEqual(expect.arrayContaining(ids));
});

it('a small webhook is accepted while a large one waits for its turn, and the large one after it', async () => {
  await takeRoom();
  const large = postUntilAccepted('evt_large');
  const small = await waitFor('a 202', async () => {
    const answer = await postWebhook(world.url, project, { webhookId: 'evt_small' });
    return answer.statusCode === 202 && answer;
  });
  expect(await recordedIds()).toEqual([small.body.id]);
  freeRoom();
  const { body: answered } = await large;
  expect(await recordedIds()).toContain(answered.id);
});

it('a large webhook that gets no turn is answered 503 and recorded, and its retry is accepted under its id', async () => {
  await world.whileRedisAnswers(async () => {
    const webhookId = `evt_${freshId()}`;
    await takeRoom();
    const refused = await post(webhookId).finally(freeRoom);
    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const row = await failureOf(webhookId);
    expect(row.payload_bytes).toBe(body.length);
    expect(row.reason).toBe('webhook.not_queued too many large bodies at once');
    expect((await postUntilAccepted(webhookId)).body.id).toBe(row.duplicate_of);
  });
});

it('a large webhook whose sender closes the connection while it waits gives up its turn', async () => {
  await takeRoom();
  // Again where the machine stood still so long that the time for the turn was over first.
  await waitFor('a turn that was given up', async () => {
    const webhookId = `evt_${freshId()}`;
    await postAndClose(webhookId);
    const { reason } = await failureOf(webhookId);
    return reason === 'webhook.not_queued the sender closed the connection';
  });
  freeRoom();
  await postUntilAccepted('evt_next');
});

function failureOf(webhookId: string): Promise<LogRow> {
  return waitFor('its row', async () => {
    const failed = await world.logsOf(project.id, 'failed_to_queue');
    return failed.find((row) => row.webhook_id === webhookId);
  });
}

/** Closes the connection once the receiver has reserved the id, or has answered already. */
async function postAndClose(webhookId: string): Promise<void> {
  const sender = new AbortController();
  let isAnswered = false;
  const answer = fetch(world.webhooksUrl(project.id), {
    method: 'POST',
    headers: { ...contentType, ...signAsProvider(project, body), 'x-webhook-id': webhookId },
    body,
    signal: sender.signal,
  });
  const answered = answer.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  const key = `hqrelay:idempotency:{${project.id}}:${webhookId}`;
  await waitFor('the reservation', async () => isAnswered || (await world.redis.get(key)) !== null);
  sender.abort();
  await answered;
}

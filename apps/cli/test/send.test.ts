import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { genericScheme, genericTimestampScheme } from '@hqrelay/domain/providers/generic';
import { viewOf } from '@hqrelay/domain/providers/request/request-view';
import { verifyRequest } from '@hqrelay/domain/providers/signature/verify-request';
import {
  type HowToAnswer,
  type RecordedRequest,
  type RecordingEndpoint,
  startRecordingEndpoint,
} from '@hqrelay/testing/recording-endpoint';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

/** Stands in for the receiver: it answers 401 to a wrong signature, and remembers webhook ids. */
let receiver: RecordingEndpoint;
const world = await openCliWorld();
let projectId: string;
let scheme = genericScheme;
const secret = 'a secret of the provider';
const seen = new Set<string>();
let sentBefore = 0;

/** The requests of the current test. */
const arrived = () => receiver.requests.slice(sentBefore);

beforeAll(async () => {
  receiver = await startRecordingEndpoint();
  receiver.answerWith((request): HowToAnswer => {
    if (!isVerified(request)) {
      const body = '{"error":{"code":"signature.wrong","message":"the signature is wrong"}}';
      return { statusCode: 401, body };
    }
    const id = String(request.headers['x-webhook-id']);
    const isReplay = seen.has(id);
    seen.add(id);
    return {
      statusCode: 202,
      body: '{"id":"01890a5d-ac96-774b-bcce-b302099a8057","status":"queued"}',
      headers: isReplay ? { 'idempotent-replayed': 'true' } : {},
    };
  });
  world.env['RECEIVER_PORT'] = new URL(receiver.url).port;
  projectId = await world.createProject('--secret', secret);
});
afterAll(async () => {
  await receiver.close();
});
beforeEach(() => {
  sentBefore = receiver.requests.length;
  scheme = genericScheme;
});

function isVerified({ headers, body }: RecordedRequest): boolean {
  const lookup = (name: string) => headers[name]?.toString();
  const view = viewOf({ method: 'POST', url: '', query: '', headers: lookup, body });
  const secrets = [{ id: 'a', key: secret }];
  return verifyRequest([scheme], { secrets }, view, Date.now()).kind === 'verified';
}

const send = (...options: string[]) => world.run('send', '--project', projectId, ...options, '--json');

it('send signs and posts as the provider would, and prints the answer', async () => {
  const answer = jsonOf(await send('--event-type', 'payment.captured', '--webhook-id', 'evt_7'));
  expect(answer).toMatchObject({
    statusCode: 202,
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    replayed: false,
    webhookId: 'evt_7',
    error: null,
  });
  expect(arrived()).toHaveLength(1);
  expect(arrived()[0]).toMatchObject({
    path: `/v1/webhooks/${projectId}`,
    headers: {
      'x-webhook-id': 'evt_7',
      'x-event-type': 'payment.captured',
      'content-type': 'application/json',
    },
  });
});

it('send reports an answer that the receiver replayed', async () => {
  await send('--webhook-id', 'evt_8');
  expect(jsonOf(await send('--webhook-id', 'evt_8'))).toMatchObject({ statusCode: 202, replayed: true });
});

it('send posts a new webhook each time when no id is given', async () => {
  expect(jsonOf(await send())).toMatchObject({ replayed: false });
  expect(jsonOf(await send())).toMatchObject({ replayed: false });
});

it('send signs the timestamp for a project that requires it', async () => {
  const project = await world.createProject('--secret', secret, '--require-timestamp');
  scheme = genericTimestampScheme;
  jsonOf(await world.run('send', '--project', project, '--json'));
  expect(arrived()[0]?.headers['x-webhook-timestamp']).toMatch(/^\d+$/);
});

it('send signs with the newest secret', async () => {
  const project = await world.createProject('--secret', 'the old secret of the provider');
  await world.run('secret', 'rotate', '--project', project, '--secret', secret);
  jsonOf(await world.run('send', '--project', project, '--json'));
});

it('send posts the bytes of a file or of stdin unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hqrelay-send-'));
  try {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a]);
    await writeFile(join(folder, 'body.bin'), bytes);
    jsonOf(await send('--body', join(folder, 'body.bin')));
    const argv = ['send', '--project', projectId, '--body', '-', '--json'];
    jsonOf(await world.runWith({}, argv, bytes));
    expect(arrived().map(({ body }) => body)).toEqual([bytes, bytes]);
    expect(arrived()[0]?.headers['content-type']).toBe('application/octet-stream');
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('send --count posts that number of distinct webhooks', async () => {
  const answers = jsonOf(await send('--count', '50')) as object[];
  expect(answers).toHaveLength(50);
  for (const answer of answers) expect(answer).toMatchObject({ statusCode: 202, replayed: false });
  expect(new Set(arrived().map(({ headers }) => headers['x-webhook-id'])).size).toBe(50);
});

it('send --count numbers the given webhook id', async () => {
  const answers = jsonOf(await send('--count', '2', '--webhook-id', 'run1')) as { webhookId: string }[];
  expect(answers.map(({ webhookId }) => webhookId)).toEqual(['run1-1', 'run1-2']);
});

it('send encodes a webhook id outside ASCII as UTF-8', async () => {
  await send('--webhook-id', 'größe-中');
  expect(Buffer.from(String(arrived()[0]?.headers['x-webhook-id']), 'latin1').toString()).toBe('größe-中');
});

it('send fails when the receiver refuses the webhook, and prints the answer on stdout', async () => {
  const project = await world.createProject('--secret', 'another secret of the provider');
  const outcome = await world.run('send', '--project', project, '--json');
  expect(jsonOf(outcome, 1)).toMatchObject({
    statusCode: 401,
    id: null,
    error: 'signature.wrong: the signature is wrong',
  });
  expect(outcome.stderr).toContain('1 of 1 not accepted');
});

it('send posts to RECEIVER_URL, whatever PUBLIC_URL is', async () => {
  const elsewhere = { RECEIVER_PORT: '1', PUBLIC_URL: 'http://127.0.0.1:1' };
  const argv = ['send', '--project', projectId, '--json'];
  const outcome = await world.runWith({ ...elsewhere, RECEIVER_URL: receiver.url }, argv);
  expect(jsonOf(outcome)).toMatchObject({ statusCode: 202 });
});

it('send fails when the receiver does not listen', async () => {
  const outcome = await world.runWith({ RECEIVER_PORT: '1' }, ['send', '--project', projectId, '--json']);
  expect(jsonOf(outcome, 1)).toMatchObject({ statusCode: null, id: null });
  expect(outcome.stderr).toContain('ECONNREFUSED');
});

it('send fails when the project has no active secret', async () => {
  const project = await world.createProject();
  const [first] = jsonOf(await world.run('secret', 'list', '--project', project, '--json')) as {
    id: string;
  }[];
  await world.run('secret', 'revoke', first!.id);
  const outcome = await world.run('send', '--project', project);
  expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
  expect(outcome.stderr).toContain('no active secret');
});

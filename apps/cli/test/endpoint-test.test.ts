import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFaultyEndpoint } from '@hqrelay/testing/faulty-endpoint';
import { type RecordingEndpoint, startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();
let projectId: string;
let endpoint: RecordingEndpoint;
beforeAll(async () => {
  projectId = await world.createProject();
  endpoint = await startRecordingEndpoint();
});
afterAll(async () => {
  await endpoint.close();
});

it('endpoint test sends a ping that the endpoint can verify, with its fixed headers', async () => {
  endpoint.answerWith({ statusCode: 204 });
  const { endpointId, signingSecret } = await world.addEndpoint(
    projectId,
    endpoint.url,
    '--header',
    'Authorization: Bearer abc',
  );
  const result = jsonOf(await world.run('endpoint', 'test', endpointId, '--json')) as { webhookId: string };
  expect(result).toMatchObject({ endpointId, ok: true, statusCode: 204, phase: null, error: null });
  const ping = endpoint.requests.at(-1)!;
  const verified = new Webhook(signingSecret).verify(ping.body, ping.headers as Record<string, string>);
  expect(verified).toMatchObject({ type: 'hqrelay.ping' });
  expect(ping.headers).toMatchObject({
    'webhook-id': result.webhookId,
    'x-event-type': 'hqrelay.ping',
    'x-hqrelay-attempt': '1',
    authorization: 'Bearer abc',
  });
});

it('endpoint test also signs with the old secret while the overlap lasts', async () => {
  endpoint.answerWith({ statusCode: 200 });
  const { endpointId, signingSecret } = await world.addEndpoint(projectId, endpoint.url);
  const rotated = jsonOf(await world.run('endpoint', 'rotate-secret', endpointId, '--json')) as {
    signingSecret: string;
  };
  await world.run('endpoint', 'test', endpointId);
  const { body, headers } = endpoint.requests.at(-1)!;
  for (const secret of [signingSecret, rotated.signingSecret]) {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  }
});

it('endpoint test prints the status code and the latency of the answer in a sentence', async () => {
  endpoint.answerWith({ statusCode: 200 });
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  const outcome = await world.run('endpoint', 'test', endpointId);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(outcome.stdout).toMatch(/^The ping to http:\S+ was answered 200 after \d+ ms\.\n$/);
});

it('endpoint test fails when the endpoint refuses the ping, and quotes its answer', async () => {
  endpoint.answerWith({ statusCode: 500, body: 'says the\u001b[2J endpoint' });
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  const outcome = await world.run('endpoint', 'test', endpointId);
  expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
  expect(outcome.stderr).toMatch(
    /arrived and was refused after \d+ ms: HTTP 500; the answer says: says the\ufffd/,
  );
});

it.each([['--json'], []])(
  'endpoint test shows no credential that the endpoint repeats in its answer, with the options %j',
  async (...options) => {
    endpoint.answerWith(({ headers }) => ({ statusCode: 401, body: JSON.stringify(headers) }));
    const { endpointId } = await world.addEndpoint(
      projectId,
      `${endpoint.url}?token=url-token-1`,
      '--header',
      'X-Key: key-of-the-endpoint',
    );
    const outcome = await world.run('endpoint', 'test', endpointId, ...options);
    const shown = outcome.stdout + outcome.stderr;
    expect(shown).toContain('x-key');
    expect(endpoint.requests.at(-1)?.headers['x-key']).toBe('key-of-the-endpoint');
    expect(shown).not.toContain('key-of-the-endpoint');
    expect(shown).not.toContain('url-token-1');
    expect(shown).not.toContain(String(endpoint.requests.at(-1)?.headers['webhook-signature']).slice(3));
  },
);

it('endpoint test names the phase of a failure: the endpoint does not answer in time', async () => {
  endpoint.answerWith({ instead: 'hang' });
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url, '--timeout', '1s');
  const outcome = await world.run('endpoint', 'test', endpointId, '--json');
  expect(jsonOf(outcome, 1)).toMatchObject({ ok: false, statusCode: null, phase: 'headers' });
  expect(outcome.stderr).toMatch(
    /failed when waiting for the answer, after \d{4,} ms: timed out after 1000 ms/,
  );
});

it('endpoint test names the phase of a failure: the connection is refused', async () => {
  const { endpointId } = await world.addEndpoint(projectId, 'http://127.0.0.1:1/');
  const outcome = await world.run('endpoint', 'test', endpointId, '--json');
  expect(jsonOf(outcome, 1)).toMatchObject({ ok: false, phase: 'connect', error: 'connection refused' });
});

it('endpoint test names the phase of a failure: the host name does not exist', async () => {
  const { endpointId } = await world.addEndpoint(projectId, 'http://absent.invalid/');
  const outcome = await world.run('endpoint', 'test', endpointId);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toMatch(/failed when its name was looked up, after \d+ ms: /);
});

it.each([
  ['hangs before the headers', 'https', 'failed in the TLS handshake, after', 'in the TLS handshake'],
  ['hangs in the body', 'http', 'failed when reading the answer, after', 'reading the response body'],
  ['resets before the headers', 'http', 'failed when waiting for the answer, after', 'connection reset'],
  ['answers garbage', 'http', 'failed when waiting for the answer, after', 'response is not valid HTTP'],
] as const)(
  'endpoint test names the phase of a failure: the endpoint %s (%s)',
  async (fault, scheme, phase, reason) => {
    const faulty = await startFaultyEndpoint(fault);
    const url = faulty.url.replace('http:', `${scheme}:`);
    // The phases before the fault take a part of it on a busy machine too.
    const { endpointId } = await world.addEndpoint(projectId, url, '--timeout', '3s');
    const outcome = await world.run('endpoint', 'test', endpointId);
    await faulty.close();
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain(phase);
    expect(outcome.stderr).toContain(reason);
  },
);

it('endpoint test sends its ping through the egress proxy when one is configured', async () => {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { endpointId } = await world.addEndpoint(projectId, 'https://hook.example/');
  const egressProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const outcome = await world.runWith({ EGRESS_PROXY: egressProxy }, ['endpoint', 'test', endpointId]);
  proxy.close();
  expect(asked).toEqual(['hook.example:443']);
  expect(outcome.stderr).toContain('the egress proxy answered 403 to CONNECT');
});

it('endpoint test names the phase of a failure: the address is no longer allowed', async () => {
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  const before = endpoint.requests.length;
  const outcome = await world.runWith({ ALLOW_PRIVATE_ENDPOINTS: 'false' }, [
    'endpoint',
    'test',
    endpointId,
    '--json',
  ]);
  expect(jsonOf(outcome, 1)).toMatchObject({ ok: false, phase: 'policy' });
  expect(endpoint.requests).toHaveLength(before);
});

it('endpoint test pings a disabled endpoint and says that it is disabled', async () => {
  endpoint.answerWith({ statusCode: 200 });
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  await world.run('endpoint', 'disable', endpointId);
  const outcome = await world.run('endpoint', 'test', endpointId);
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stderr).toContain('the endpoint is disabled');
});

it('endpoint test names the row whose secret it cannot open', async () => {
  const { endpointId } = await world.addEndpoint(projectId, endpoint.url);
  const otherKey = Buffer.alloc(32, 2).toString('base64');
  const outcome = await world.runWith({ HQRELAY_SECRETS_KEY: otherKey }, ['endpoint', 'test', endpointId]);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toMatch(/^error: endpoint_secrets:\S+ was sealed with key/);
});

it('endpoint test fails for an endpoint that does not exist', async () => {
  const outcome = await world.run('endpoint', 'test', '01890a5d-ac96-774b-bcce-b302099a8057');
  expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
  expect(outcome.stderr).toContain('there is no endpoint');
});

import { createCertificates } from '@hqrelay/testing/certificates';
import { startFaultyEndpoint, type Fault, type FaultyEndpoint } from '@hqrelay/testing/faulty-endpoint';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkerWorld, type AttemptInSql } from './worker-world.ts';

const certificates = createCertificates();
const endpoints: FaultyEndpoint[] = [];
const world = await openWorkerWorld();
let project: SeededProject;
/** Every fault shows in a part of it on a busy machine too. */
const timeoutMs = 2_500;

beforeAll(async () => {
  project = await seedProject(world);
});

afterAll(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
  certificates.remove();
});

async function attemptAt(
  endpoint: FaultyEndpoint,
  options: { url?: string; ca?: string } = {},
): Promise<AttemptInSql> {
  endpoints.push(endpoint);
  const { id: endpointId } = await seedEndpoint(world, project.id, {
    url: options.url ?? endpoint.url,
    timeoutMs,
    retry: '1h',
    tls: { ca: options.ca },
  });
  await world.forget(project.id);
  const id = freshId();
  await world.send(world.message(project.id, { id, endpointIds: [endpointId] }));
  const [attempt] = await world.waitForAttempts(id, 1);
  return attempt!;
}

describe('the recorded attempt', () => {
  it.each<[Fault, string]>([
    ['refuses connections', 'connection refused'],
    ['hangs before the headers', 'timed out after 2500 ms waiting for headers'],
    ['hangs in the headers', 'timed out after 2500 ms waiting for headers'],
    ['hangs in the body', 'timed out after 2500 ms reading the response body'],
    ['drips its headers', 'timed out after 2500 ms waiting for headers'],
    ['drips its body', 'timed out after 2500 ms reading the response body'],
    ['resets before the headers', 'connection reset waiting for headers'],
    ['closes before the headers', 'connection closed by the endpoint waiting for headers'],
    ['closes in the body', 'connection closed by the endpoint reading the response body'],
    ['answers garbage', 'response is not valid HTTP'],
    ['answers with headers without end', 'response headers too large'],
  ])('an attempt at an endpoint that %s has the error "%s"', async (fault, error) => {
    const attempt = await attemptAt(await startFaultyEndpoint(fault));
    expect(attempt).toMatchObject({ status: 'failed', status_code: null, error });
    expect(attempt.latency_ms).toBeLessThan(timeoutMs + 10_000);
  });

  it.each<Fault>(['answers 200 and 100 MB', 'answers 200 and a body without end'])(
    'an attempt at an endpoint that %s is delivered, with 4 KiB of the body',
    async (fault) => {
      const attempt = await attemptAt(await startFaultyEndpoint(fault));
      expect(attempt).toMatchObject({ status: 'delivered', status_code: 200, error: null });
      expect(attempt.response_body).toBe('x'.repeat(4_096));
    },
  );

  it('an attempt at an endpoint that redirects has the error that no redirect is followed', async () => {
    const endpoint = await startFaultyEndpoint('redirects to itself');
    expect(await attemptAt(endpoint)).toMatchObject({
      status: 'failed',
      status_code: 302,
      error: 'redirect 302 not followed',
    });
    expect(endpoint.requests()).toBe(1);
  });

  it('the error of an attempt at an endpoint that hangs in the TLS handshake names that phase', async () => {
    const endpoint = await startFaultyEndpoint('hangs before the headers');
    const url = endpoint.url.replace('http:', 'https:');
    expect(await attemptAt(endpoint, { url })).toMatchObject({
      error: 'timed out after 2500 ms in the TLS handshake',
    });
  });

  it('the error of an attempt says that a certificate is self-signed, expired or for another name', async () => {
    const selfSigned = certificates.issue('localhost');
    const authority = certificates.issue('authority.example');
    const expired = certificates.issue('localhost', { issuer: authority, notAfter: '20210101000000Z' });
    const wrongName = certificates.issue('other.example', { issuer: authority });
    const errorOf = async (certificate: typeof selfSigned, ca?: string) => {
      const endpoint = await startFaultyEndpoint('hangs before the headers', certificate);
      const { error } = await attemptAt(endpoint, {
        ca: ca!,
        url: endpoint.url.replace('127.0.0.1', 'localhost'),
      });
      expect(endpoint.requests()).toBe(0);
      return error;
    };
    expect(await errorOf(selfSigned)).toBe('TLS certificate is self-signed');
    expect(await errorOf(expired, authority.certificate)).toBe('TLS certificate has expired');
    expect(await errorOf(wrongName, authority.certificate)).toBe('TLS certificate is for another host name');
  });

  it('the error of an attempt at an endpoint whose name does not exist says so', async () => {
    const endpoint = await startFaultyEndpoint('hangs before the headers');
    const { error } = await attemptAt(endpoint, { url: 'http://absent.invalid/' });
    expect(['host name not found', 'name server did not answer']).toContain(error);
  });

  it('an attempt at an address that no setting allows makes no request, and its error names the address', async () => {
    const endpoint = await startFaultyEndpoint('hangs before the headers');
    expect(await attemptAt(endpoint, { url: 'http://169.254.169.254/latest' })).toMatchObject({
      error: expect.stringMatching(/^not allowed: .*169\.254\.169\.254/),
      latency_ms: 0,
    });
  });
});

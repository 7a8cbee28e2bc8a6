import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { basename, dirname } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createCertificates } from '@hqrelay/testing/certificates';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf, runCli } from './run-cli.ts';

const certificates = createCertificates();
const authority = certificates.issue('authority.example');
const served = certificates.issue('localhost', { issuer: authority });
const client = certificates.issue('relay.example', { issuer: authority });
const expired = certificates.issue('expired.example', { notAfter: '20210101000000Z' });

const [ca, clientCert, clientKey] = [
  ['--ca', authority.certificateFile],
  ['--client-cert', client.certificateFile],
  ['--client-key', client.keyFile],
] as const;

const world = await openCliWorld();
let projectId: string;
beforeAll(async () => {
  projectId = await world.createProject();
});
afterAll(() => certificates.remove());

const add = (...options: string[]) => world.addEndpoint(projectId, 'https://endpoint.example/', ...options);

const rowOf = async (endpointId: string) => {
  const { rows } = await world.sql.query(
    'select ca_certificates, sealed_client_certificate, client_certificate_key_id from endpoints where id = $1',
    [endpointId],
  );
  return rows[0] as Record<string, string | null>;
};

const listed = async (endpointId: string) => {
  const endpoints = jsonOf(await world.run('endpoint', 'list', '--json')) as { id: string }[];
  return endpoints.find(({ id }) => id === endpointId);
};

describe('the certificates of an endpoint', () => {
  it('an endpoint stores its CA in clear, and its client certificate and key sealed and bound to the row', async () => {
    const { endpointId } = await add(...ca, ...clientCert, ...clientKey);
    const row = await rowOf(endpointId);
    expect(row['ca_certificates']).toBe(authority.certificate);
    const [sealed, keyId] = [row['sealed_client_certificate']!, row['client_certificate_key_id']!];
    const keys = parseSecretKeys(world.env['HQRELAY_SECRETS_KEY']!);
    expect(JSON.parse(open(keys, { sealed, keyId }, `endpoints.tls:${endpointId}`))).toEqual({
      certificate: client.certificate,
      key: client.key,
    });
    expect(await listed(endpointId)).toMatchObject({ hasCa: true, hasClientCertificate: true });
    expect(JSON.stringify(await listed(endpointId))).not.toContain('BEGIN');
  });

  it('the certificates of an endpoint are optional, and each can be added and removed later', async () => {
    const { endpointId } = await add();
    expect(await listed(endpointId)).toMatchObject({ hasCa: false, hasClientCertificate: false });
    const update = async (...options: string[]) =>
      jsonOf(await world.run('endpoint', 'update', endpointId, '--json', ...options));
    expect(await update(...ca)).toMatchObject({ hasCa: true, hasClientCertificate: false });
    expect(await update(...clientCert, ...clientKey)).toMatchObject({
      hasCa: true,
      hasClientCertificate: true,
    });
    const before = await rowOf(endpointId);
    expect(await update('--timeout', '2s')).toMatchObject({ hasCa: true, hasClientCertificate: true });
    expect(await rowOf(endpointId)).toEqual(before);
    expect(await update('--no-ca')).toMatchObject({ hasCa: false, hasClientCertificate: true });
    expect(await update('--no-client-cert')).toMatchObject({ hasCa: false, hasClientCertificate: false });
  });

  it.each([
    ['--client-cert and --client-key go together', clientCert],
    ['--client-cert and --client-key go together', clientKey],
    ['--ca /no/such/file cannot be read: ENOENT', ['--ca', '/no/such/file']],
    ['there is no certificate in PEM format', ['--ca', client.keyFile]],
    [
      'the certificate "CN=expired.example" expired on Jan  1 00:00:00 2021',
      ['--ca', expired.certificateFile],
    ],
    [
      'the certificate "CN=expired.example" expired on Jan  1 00:00:00 2021',
      ['--client-cert', expired.certificateFile, '--client-key', expired.keyFile],
    ],
    [
      'the key does not belong to the certificate "CN=relay.example"',
      [...clientCert, '--client-key', authority.keyFile],
    ],
    ['there is no private key in PEM format', [...clientCert, '--client-key', client.certificateFile]],
  ])('endpoint add refuses certificates that it cannot use: %s (%#)', async (sentence, options) => {
    const url = 'https://endpoint.example/';
    const outcome = await world.run('endpoint', 'add', '--project', projectId, '--url', url, ...options);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain(sentence);
    expect(outcome.stderr).not.toContain(client.key.split('\n')[1]);
  });

  it('endpoint add refuses certificates for a plain HTTP URL', async () => {
    const url = 'http://127.0.0.1/';
    const outcome = await world.run('endpoint', 'add', '--project', projectId, '--url', url, ...ca);
    expect(outcome).toMatchObject({ exitCode: 2 });
    expect(outcome.stderr).toContain('for https URLs');
  });

  it('endpoint add resolves certificate files against the working directory of the caller', async () => {
    const options = ['--url', 'https://endpoint.example/', '--ca', basename(authority.certificateFile)];
    const argv = ['endpoint', 'add', '--project', projectId, '--json', ...options];
    const outcome = await runCli(world.env, argv, { directory: dirname(authority.certificateFile) });
    const { endpointId } = jsonOf(outcome) as { endpointId: string };
    expect((await rowOf(endpointId))['ca_certificates']).toBe(authority.certificate);
  });

  it('endpoint test presents the client certificate and trusts the CA that the endpoint was given', async () => {
    const seen: unknown[] = [];
    const options = {
      cert: served.certificate,
      key: served.key,
      ca: authority.certificate,
      requestCert: true,
    };
    const server = createServer(options, (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().subject.CN);
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const test = async (...given: string[]) => {
      const { endpointId } = await world.addEndpoint(projectId, url, ...given);
      return world.run('endpoint', 'test', endpointId);
    };
    expect(await test(...ca, ...clientCert, ...clientKey)).toMatchObject({ exitCode: 0 });
    expect(seen).toEqual(['relay.example']);
    const unknown = await test(...clientCert, ...clientKey);
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toMatch(/in the TLS handshake, after \d+ ms: TLS certificate /);
    expect(seen).toHaveLength(1);
    server.close();
  });
});

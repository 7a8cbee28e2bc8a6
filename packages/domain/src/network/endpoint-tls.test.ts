import { execFileSync } from 'node:child_process';
import { createCertificates } from '@hqrelay/testing/certificates';
import { afterAll, describe, expect, it } from 'vitest';
import { checkAuthorities, checkClientCertificate } from './endpoint-tls.ts';

const certificates = createCertificates();
afterAll(() => certificates.remove());

const now = Date.UTC(2026, 0, 1);
const authority = certificates.issue('authority.example');
const client = certificates.issue('client.example', { issuer: authority });
const expired = certificates.issue('expired.example', { notAfter: '20210101000000Z' });

const reasonOf = (check: { ok: true } | { ok: false; reason: string }) => (check.ok ? 'none' : check.reason);

describe('authorities', () => {
  it('authorities may be one or several certificates, with text around them', () => {
    expect(checkAuthorities(authority.certificate, now)).toEqual({ ok: true });
    const bundle = `# ours\n${authority.certificate}\n# theirs\r\n${client.certificate}`;
    expect(checkAuthorities(bundle, now)).toEqual({ ok: true });
  });

  it.each([
    ['', 'there is no certificate in PEM format (-----BEGIN CERTIFICATE-----)'],
    [client.key, 'there is no certificate in PEM format (-----BEGIN CERTIFICATE-----)'],
    [
      `${authority.certificate}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
      'certificate 2 of 2 cannot be read: it is damaged',
    ],
    [
      authority.certificate + expired.certificate,
      'the certificate "CN=expired.example" expired on Jan  1 00:00:00 2021 GMT',
    ],
    ['x'.repeat(65_537), 'the certificates are longer than 65536 bytes'],
    [authority.certificate.repeat(51), 'there are more than 50 certificates'],
  ])('authorities that cannot be used are refused with the reason (case %#)', (pem, reason) => {
    expect(reasonOf(checkAuthorities(pem, now))).toBe(reason);
  });
});

describe('a client certificate', () => {
  it('a client certificate is accepted with its key, also with intermediate certificates after it', () => {
    expect(checkClientCertificate(client, now)).toEqual({ ok: true });
    const chain = client.certificate + authority.certificate;
    expect(checkClientCertificate({ certificate: chain, key: client.key }, now)).toEqual({ ok: true });
  });

  const encryptedKey = execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:test'], {
    input: client.key,
    encoding: 'utf8',
  });

  it.each([
    [
      { ...client, key: authority.key },
      'the key does not belong to the certificate "CN=client.example", the first certificate of the file',
    ],
    [
      { certificate: authority.certificate + client.certificate, key: client.key },
      'the key does not belong to the certificate "CN=authority.example", the first certificate of the file',
    ],
    [expired, 'the certificate "CN=expired.example" expired on Jan  1 00:00:00 2021 GMT'],
    [
      { ...client, key: client.certificate },
      'there is no private key in PEM format (-----BEGIN PRIVATE KEY-----)',
    ],
    [
      { ...client, key: encryptedKey },
      'the private key is encrypted: remove its pass phrase; the relay stores the key encrypted',
    ],
    [
      { ...client, key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' },
      'the private key cannot be read: it is damaged or of an unknown kind',
    ],
  ])('a client certificate that cannot be used is refused with the reason (case %#)', (pair, reason) => {
    expect(reasonOf(checkClientCertificate(pair, now))).toBe(reason);
  });

  it('a client certificate that is not valid yet is refused with its first day', () => {
    const reason = reasonOf(checkClientCertificate(client, Date.UTC(2019, 0, 1)));
    expect(reason).toBe('the certificate "CN=client.example" is not valid before Jan  1 00:00:00 2020 GMT');
  });

  it('the reason for refusing a damaged client key does not quote the key', () => {
    const secret = client.key.split('\n')[1]!;
    const broken = { ...client, key: client.key.replace('MI', '!!') };
    expect(reasonOf(checkClientCertificate(broken, now))).not.toContain(secret.slice(4, 20));
  });
});

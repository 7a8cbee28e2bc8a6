import { describe, expect, it } from 'vitest';
import { type HttpExchange, judgeAttempt } from './attempt-outcome.ts';

const now = Date.UTC(2026, 0, 1);
const context = { now, timeoutMs: 10_000 };

function answered(statusCode: number, retryAfter?: string) {
  return judgeAttempt(
    { kind: 'response', statusCode, retryAfter, bodyHead: new Uint8Array(0), latencyMs: 12 },
    context,
  );
}

type Broken = Extract<HttpExchange, { kind: 'error' }>;

function broken(phase: Broken['phase'], code: string, message = '', latencyMs = 12.7) {
  return judgeAttempt({ kind: 'error', phase, code, message, latencyMs }, context);
}

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('an answer of %i counts as delivered', (statusCode) => {
    expect(answered(statusCode)).toEqual({ kind: 'delivered', statusCode });
  });

  it('an answer of 410 means that the endpoint is gone', () => {
    expect(answered(410, '60')).toEqual({ kind: 'gone', statusCode: 410, error: 'HTTP 410' });
  });

  it.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed and counts as failed', (statusCode) => {
    expect(answered(statusCode)).toEqual({
      kind: 'failed',
      statusCode,
      error: `redirect ${statusCode} not followed`,
    });
  });

  it.each([101, 199, 300, 304, 400, 401, 404, 408, 409, 425, 429, 500, 502, 503, 504, 599, 999, 0, -1])(
    'an answer of %i counts as failed',
    (statusCode) => {
      expect(answered(statusCode)).toEqual({ kind: 'failed', statusCode, error: `HTTP ${statusCode}` });
    },
  );

  it('an answer without a numeric status counts as failed', () => {
    expect(answered(Number.NaN)).toMatchObject({ kind: 'failed', error: 'HTTP NaN' });
  });
});

describe('Retry-After', () => {
  it.each([429, 503])('Retry-After is read from an answer of %i, in seconds or as a date', (statusCode) => {
    expect(answered(statusCode, '120')).toMatchObject({ kind: 'failed', retryAfterMs: 120_000 });
    expect(answered(statusCode, 'Thu, 01 Jan 2026 00:01:00 GMT')).toMatchObject({ retryAfterMs: 60_000 });
    expect(answered(statusCode, '0')).toMatchObject({ retryAfterMs: 0 });
  });

  it.each([200, 301, 400, 410, 500, 502])('Retry-After is ignored in an answer of %i', (statusCode) => {
    expect(answered(statusCode, '120')).not.toHaveProperty('retryAfterMs');
  });

  it.each(['', '-1', 'soon', '9'.repeat(1_000), '1, 2'])('a Retry-After of %j is ignored', (value) => {
    expect(answered(503, value)).not.toHaveProperty('retryAfterMs');
  });
});

describe('an exchange that broke off', () => {
  it.each([
    ['headers', 'TIMEOUT', 'timed out after 10000 ms waiting for headers'],
    ['connect', 'TIMEOUT', 'timed out after 10000 ms connecting'],
    ['body', 'TIMEOUT', 'timed out after 10000 ms reading the response body'],
    ['dns', 'TIMEOUT', 'timed out after 10000 ms looking up the host name'],
    ['tls', 'TIMEOUT', 'timed out after 10000 ms in the TLS handshake'],
    ['connect', 'ETIMEDOUT', 'timed out after 13 ms connecting'],
    ['connect', 'UND_ERR_CONNECT_TIMEOUT', 'timed out after 13 ms connecting'],
    ['headers', 'UND_ERR_HEADERS_TIMEOUT', 'timed out after 13 ms waiting for headers'],
    ['connect', 'ECONNREFUSED', 'connection refused'],
    ['headers', 'ECONNRESET', 'connection reset waiting for headers'],
    ['socket', 'EPIPE', 'connection closed by the endpoint waiting for a free connection'],
    ['body', 'UND_ERR_SOCKET', 'connection closed by the endpoint reading the response body'],
    ['dns', 'ENOTFOUND', 'host name not found'],
    ['tls', 'CERT_HAS_EXPIRED', 'TLS certificate has expired'],
    ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID', 'TLS certificate is for another host name'],
    ['tls', 'CERT_NOT_YET_VALID', 'TLS certificate is not valid yet'],
    ['tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS certificate is self-signed'],
    ['tls', 'SELF_SIGNED_CERT_IN_CHAIN', 'TLS certificate chain is self-signed'],
    ['tls', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'TLS certificate is of an unknown authority'],
    [
      'tls',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'TLS certificate chain is incomplete or of an unknown authority',
    ],
    ['tls', 'ERR_SSL_WRONG_VERSION_NUMBER', 'the endpoint does not speak TLS'],
    ['tls', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'no TLS version in common with the endpoint'],
    ['tls', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'no TLS version in common with the endpoint'],
    ['tls', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'the endpoint refused the TLS handshake'],
    [
      'headers',
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'the endpoint asks for a TLS client certificate',
    ],
    ['headers', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'the endpoint does not accept our TLS client certificate'],
    ['tls', 'ECONNRESET', 'connection reset in the TLS handshake'],
    ['connect', 'EHOSTUNREACH', 'host unreachable'],
    ['connect', 'ENETUNREACH', 'network unreachable'],
    ['connect', 'EADDRNOTAVAIL', 'address not reachable from here'],
    ['connect', 'EMFILE', 'too many open files on the relay'],
    ['connect', 'PROXY_UNAVAILABLE', 'the egress proxy is unavailable'],
    ['dns', 'ENODATA', 'host name has no address'],
    ['dns', 'ETIMEOUT', 'name server did not answer'],
    ['dns', 'ESERVFAIL', 'name server could not resolve the host name'],
    ['dns', 'EREFUSED', 'name server refused to resolve the host name'],
    ['socket', 'TIMEOUT', 'timed out after 10000 ms waiting for a free connection'],
    ['headers', 'UND_ERR_HEADERS_OVERFLOW', 'response headers too large'],
    ['headers', 'ABORTED', 'aborted by the relay'],
    ['headers', 'HPE_INVALID_CONSTANT', 'response is not valid HTTP'],
  ] as const)('an exchange that breaks off in phase %s with %s fails with "%s"', (phase, code, error) => {
    expect(broken(phase, code, 'some noise that differs each time')).toEqual({
      kind: 'failed',
      statusCode: null,
      error,
    });
  });

  it('the error of an attempt to a refused address says why it is refused', () => {
    expect(
      broken('policy', 'EPOLICY', 'x.example resolves to 10.0.0.1, which is a private address'),
    ).toMatchObject({
      error: 'not allowed: x.example resolves to 10.0.0.1, which is a private address',
    });
    expect(broken('policy', 'EPOLICY')).toMatchObject({ error: 'not allowed: EPOLICY' });
  });

  it('the error of an unknown cause contains its code and message', () => {
    expect(broken('tls', 'EPROTO', 'wrong version number')).toMatchObject({
      error: 'error in the TLS handshake: EPROTO wrong version number',
    });
    expect(broken('socket', '', '')).toMatchObject({ error: 'error waiting for a free connection:' });
  });

  it('the error from a hostile message is short, well-formed and free of control characters', () => {
    const outcome = broken('headers', 'EWEIRD', `\x1b[31m\0\r\n\ud800${'x'.repeat(1_000_000)}`);
    if (outcome.kind !== 'failed') throw new Error(outcome.kind);
    expect(outcome.error.length).toBeLessThanOrEqual(300);
    expect(outcome.error).not.toMatch(/\p{Cc}/u);
    expect(outcome.error.isWellFormed()).toBe(true);
  });

  it('an error that is cut in the middle of a character stays well-formed', () => {
    for (const fill of ['🦊', 'x🦊']) {
      const outcome = broken('headers', 'EWEIRD', fill.repeat(1_000));
      if (outcome.kind !== 'failed') throw new Error(outcome.kind);
      expect(outcome.error.isWellFormed()).toBe(true);
    }
  });
});

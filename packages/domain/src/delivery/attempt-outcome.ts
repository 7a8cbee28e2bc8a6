import { parseRetryAfter } from './retry-schedule.ts';

/** How much of a response's body the audit row stores. */
export const bodyHeadBytesMax = 4_096;

/** The phase in which an HTTP exchange ended early; `policy`: the relay refused to connect. */
export type ExchangePhase = 'dns' | 'connect' | 'tls' | 'headers' | 'body' | 'socket' | 'policy';

/**
 * The result of one HTTP request to an endpoint. `code` is Node's or undici's, `TIMEOUT` for the attempt's own deadline,
 * `ABORTED` when the relay aborted the request, or `PROXY_UNAVAILABLE` or `PROXY_REFUSED` from the egress proxy.
 */
export type HttpExchange =
  | {
      kind: 'response';
      statusCode: number;
      retryAfter?: string | undefined;
      bodyHead: Uint8Array;
      latencyMs: number;
    }
  | { kind: 'error'; phase: ExchangePhase; code: string; message: string; latencyMs: number };

export type AttemptOutcome =
  | { kind: 'delivered'; statusCode: number }
  | { kind: 'failed'; statusCode: number | null; error: string; retryAfterMs?: number }
  | { kind: 'gone'; statusCode: 410; error: string };

const errorLengthMax = 300;

const phaseTexts: Readonly<Record<ExchangePhase, string>> = {
  dns: 'looking up the host name',
  connect: 'connecting',
  tls: 'in the TLS handshake',
  headers: 'waiting for headers',
  body: 'reading the response body',
  socket: 'waiting for a free connection',
  policy: 'checking the address',
};

const timeoutCodes: ReadonlySet<string> = new Set([
  'TIMEOUT',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'EPIPE']);

const certificateRefused = 'the endpoint does not accept our TLS client certificate';

const codeTexts: ReadonlyMap<string, string> = new Map([
  ['ABORTED', 'aborted by the relay'],
  ['ECONNREFUSED', 'connection refused'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['EADDRNOTAVAIL', 'address not reachable from here'],
  ['EMFILE', 'too many open files on the relay'],
  ['PROXY_UNAVAILABLE', 'the egress proxy is unavailable'],
  ['ENOTFOUND', 'host name not found'],
  ['ENODATA', 'host name has no address'],
  ['ETIMEOUT', 'name server did not answer'],
  ['ESERVFAIL', 'name server could not resolve the host name'],
  ['EREFUSED', 'name server refused to resolve the host name'],
  ['CERT_HAS_EXPIRED', 'TLS certificate has expired'],
  ['CERT_NOT_YET_VALID', 'TLS certificate is not valid yet'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS certificate is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS certificate chain is self-signed'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS certificate chain is incomplete or of an unknown authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'TLS certificate is of an unknown authority'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS certificate is for another host name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the endpoint does not speak TLS'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'no TLS version in common with the endpoint'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'no TLS version in common with the endpoint'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'the endpoint refused the TLS handshake'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'the endpoint asks for a TLS client certificate'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', certificateRefused],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', certificateRefused],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', certificateRefused],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', certificateRefused],
  ['UND_ERR_HEADERS_OVERFLOW', 'response headers too large'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'response body too large'],
]);

/** The errors of attempts that failed for a reason of the relay's own, as `judgeAttempt` words them. */
export const relayFaults: readonly string[] = [
  'ABORTED',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENETUNREACH',
  'EREFUSED',
  'ETIMEOUT',
  'PROXY_UNAVAILABLE',
].flatMap((code) => codeTexts.get(code) ?? []);

const redirectStatusCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const retryAfterStatusCodes: ReadonlySet<number> = new Set([429, 503]);

/**
 * Judges an attempt: 2xx is delivered, 410 is gone, everything else failed. `error` is for an engineer who reads it in
 * SQL: short, and the same for the same cause. Retry-After counts on 429 and 503 only, from `now` (ms).
 */
export function judgeAttempt(
  exchange: HttpExchange,
  context: { now: number; timeoutMs: number },
): AttemptOutcome {
  if (exchange.kind === 'error') {
    return { kind: 'failed', statusCode: null, error: describeError(exchange, context.timeoutMs) };
  }
  const { statusCode } = exchange;
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', statusCode };
  if (statusCode === 410) return { kind: 'gone', statusCode, error: 'HTTP 410' };
  const error = redirectStatusCodes.has(statusCode)
    ? `redirect ${statusCode} not followed`
    : `HTTP ${statusCode}`;
  const retryAfterMs = retryAfterStatusCodes.has(statusCode)
    ? parseRetryAfter(exchange.retryAfter, context.now)
    : undefined;
  return { kind: 'failed', statusCode, error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function describeError(exchange: Extract<HttpExchange, { kind: 'error' }>, timeoutMs: number): string {
  const { phase, code } = exchange;
  if (phase === 'policy') return printable(`not allowed: ${exchange.message || code}`);
  if (timeoutCodes.has(code)) {
    // Only the attempt's own deadline is exactly the timeout; the others say how long they really took.
    const elapsedMs = code === 'TIMEOUT' ? timeoutMs : Math.round(exchange.latencyMs);
    return `timed out after ${elapsedMs} ms ${phaseTexts[phase]}`;
  }
  if (code === 'ECONNRESET') return `connection reset ${phaseTexts[phase]}`;
  if (closedCodes.has(code)) return `connection closed by the endpoint ${phaseTexts[phase]}`;
  if (code.startsWith('HPE_')) return 'response is not valid HTTP';
  return (
    codeTexts.get(code) ??
    printable(`error ${phaseTexts[phase]}: ${[code, exchange.message].filter(Boolean).join(' ')}`)
  );
}

/** The text on one line, without control characters: a message can quote bytes of the endpoint. */
function printable(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > errorLengthMax ? `${line.slice(0, errorLengthMax - 1).toWellFormed()}…` : line;
}

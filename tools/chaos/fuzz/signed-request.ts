import { gzipSync } from 'node:zlib';
import { signAsProvider } from '@hqrelay/testing/provider';
import type { SeededProject } from '@hqrelay/testing/seed';
import { latin1 } from './fuzz-case.ts';
import type { Random } from './random.ts';

export type Header = readonly [string, string];

const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON ;charset="utf-16"',
  'application/cloudevents+json',
  'application/vnd.a+b+json;;;',
  'application/+++json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  '*/*',
  ';',
  '\xff\xfe',
];
const encodings = ['gzip', 'GZIP', 'br', 'deflate', 'identity', 'gzip, gzip', 'x-unknown', ';', '\xff'];

/** A body, and the headers of a request whose signature is valid; the framing is not among them. */
export function signedRequest(random: Random, project: SeededProject): { headers: Header[]; body: Buffer } {
  const headers: Header[] = [['Host', 'relay']];
  let body = bodyOf(random);
  if (!random.once(3)) headers.push(['Content-Type', random.pick(contentTypes)]);
  if (random.once(4)) {
    headers.push(['Content-Encoding', random.pick(encodings)]);
    if (!random.once(3)) body = gzipSync(body);
  }
  for (const [name, value] of Object.entries(signAsProvider(project, body))) headers.push([name, value]);
  if (random.once(2)) headers.push(['X-Webhook-Id', headerValue(random)]);
  if (random.once(4)) headers.push(['Idempotency-Key', headerValue(random)]);
  if (random.once(3)) headers.push(['X-Event-Type', headerValue(random)]);
  if (random.once(3)) headers.push(['X-Correlation-Id', headerValue(random)]);
  if (random.once(3)) headers.push(['X-Forwarded-For', headerValue(random)]);
  if (random.once(4))
    headers.push(['X-Webhook-Timestamp', random.pick(['0', '-1', 'NaN', '9'.repeat(400), '1e9'])]);
  if (random.once(6))
    headers.push(['Connection', random.pick(['close', 'keep-alive', 'x-event-type, host', ',,,'])]);
  if (random.once(8)) headers.push(['Cookie', headerValue(random)], ['Authorization', headerValue(random)]);
  return { headers, body };
}

/** Any value that a header may have: no CR, LF or NUL, no space around it. */
export function headerValue(random: Random): string {
  switch (random.int(6)) {
    case 0:
      return '';
    case 1:
      return random.text(1 + random.int(40));
    case 2:
      return random.text(250 + random.int(12));
    case 3:
      return random.text(10_240);
    case 4:
      return Buffer.from(
        random.pick(['é', '🦊', '\u202e', '\u0085', '\ufdfa']).repeat(1 + random.int(80)),
      ).toString('latin1');
    default:
      return latin1Text(random.bytes(1 + random.int(64))).trim();
  }
}

/** One character for each byte, without control characters. */
function latin1Text(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll(/\p{Cc}/gu, '!');
}

function bodyOf(random: Random): Buffer {
  switch (random.int(8)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return random.bytes(random.int(3_000));
    case 2:
      return Buffer.from('\ufeff{"event":"a"}');
    case 3:
      return latin1(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    case 4:
      return Buffer.from(
        JSON.stringify({ event: random.pick([null, 7, [], '\0', '\ud800', 'x'.repeat(300)]) }),
      );
    case 5:
      return latin1(
        random.pick(['{', '{"event":"\xff"}', 'null', '"', '{"__proto__":{"event":"a"}}', '1e999']),
      );
    case 6:
      return random.bytes(20_000 + random.int(40_000));
    default:
      return Buffer.from(JSON.stringify({ event: `e.${random.text(8)}`, id: random.text(20) }));
  }
}

import { inPieces, latin1, requestText, type CaseMaker } from '../fuzz-case.ts';
import { signedRequest } from '../signed-request.ts';
import type { Random } from '../random.ts';
import { inChunks } from './signed.ts';

/** A valid request with bytes changed, removed, inserted or repeated. */
export const mutated: CaseMaker = {
  name: 'mutated',
  make(random, { project }) {
    let bytes = validRequest(random, project);
    for (let left = 1 + random.int(4); left > 0; left -= 1) bytes = mutate(random, bytes);
    return { writes: inPieces(random, bytes), end: 'half-close', answers: [0, 40] };
  },
};

/** A valid request whose sender stops in the middle of it. */
export const truncated: CaseMaker = {
  name: 'truncated',
  make(random, { project }) {
    const bytes = validRequest(random, project);
    const part = bytes.subarray(0, random.int(bytes.length));
    return { writes: inPieces(random, part), end: random.pick(['half-close', 'reset']), answers: [0, 1] };
  },
};

/** A valid request that stops, on a connection that stays open: headers have 10 s, bodies 5 s. */
export const stalled: CaseMaker = {
  name: 'stalled',
  make(random, { project }) {
    const bytes = validRequest(random, project);
    const part = bytes.subarray(0, 1 + random.int(bytes.length - 1));
    return { writes: [part], end: 'stall', answers: [0, 1], statuses: [202, 400, 401, 408, 431] };
  },
};

const greetings = [
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00',
  'SSH-2.0-OpenSSH_9.2\r\n',
  '*1\r\n$4\r\nPING\r\n',
  'GET /\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'get /health http/1.1\r\n\r\n',
  'EHLO a\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n',
  '\r\n'.repeat(5_000),
  '\0'.repeat(100),
];

/** Other protocols, and bytes of no protocol. */
export const garbage: CaseMaker = {
  name: 'garbage',
  make(random) {
    const bytes = random.once(2) ? latin1(random.pick(greetings)) : random.bytes(1 + random.int(4_000));
    const isEmpty = bytes.every((byte) => byte === 0x0d || byte === 0x0a);
    return { writes: inPieces(random, bytes), end: 'half-close', answers: [isEmpty ? 0 : 1, 1] };
  },
};

/** Several requests on one connection, sent at once. */
export const pipelined: CaseMaker = {
  name: 'pipelined',
  make(random, { project }) {
    const count = 2 + random.int(20);
    const requests = Array.from({ length: count }, () =>
      random.once(3) ? latin1('GET /health HTTP/1.1\r\nHost: a\r\n\r\n') : validRequest(random, project),
    );
    return { writes: inPieces(random, Buffer.concat(requests)), end: 'wait', answers: [1, count] };
  },
};

function validRequest(random: Random, project: Parameters<typeof signedRequest>[1]): Buffer {
  const { headers, body } = signedRequest(random, project);
  const [framing, framed] = random.once(2)
    ? [['Content-Length', String(body.length)] as const, body]
    : inChunks(random, body);
  const head = requestText(`POST /v1/webhooks/${project.id} HTTP/1.1`, [...headers, framing]);
  return Buffer.concat([latin1(head), framed]);
}

function mutate(random: Random, bytes: Buffer): Buffer {
  // Most changes in the head, which is what is parsed.
  const at = random.int(random.once(3) ? bytes.length + 1 : Math.min(bytes.length + 1, 400));
  const length = 1 + random.int(random.once(4) ? 200 : 3);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.int(4)) {
    case 0:
      return Buffer.concat([before, random.bytes(length), after.subarray(length)]);
    case 1:
      return Buffer.concat([before, after.subarray(length)]);
    case 2:
      return Buffer.concat([
        before,
        latin1(random.pick(['\r', '\n', '\r\n', '\0', ' ', ':', '\t', '%', '\xff', '0'])),
        after,
      ]);
    default:
      return Buffer.concat([before, after.subarray(0, length), after]);
  }
}

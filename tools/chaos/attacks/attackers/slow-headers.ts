import { webhookPath, type Attack } from '../attack.ts';

/** Connections that never finish their headers hold memory and a place each. */
export const slowHeaders: Attack = {
  name: 'slow-headers',
  what: 'one header a second on each connection, and no end of them',
  sockets: 2_000,
  opensPerSecond: 500,
  open: ({ write }) => write(`POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\n`),
  again: {
    everyMs: 1_000,
    send: ({ write, count }) => {
      write('X-Slow: 1\r\n');
      count();
    },
  },
};

import { webhookPath, type Attack } from '../attack.ts';

const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`;

/** Each unknown id is looked up in the stores before anything can be verified. */
export const randomProjectIds: Attack = {
  name: 'random-project-ids',
  what: 'signed requests to projects that do not exist, each to another',
  sockets: 60,
  opensPerSecond: 100,
  open: () => {},
  again: {
    everyMs: 100,
    send: ({ write, count }) => {
      write(`POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\nContent-Length: 2\r\n${signature}\r\n{}`);
      count();
    },
  },
};

import { webhookPath, type Attack } from '../attack.ts';

const bodyBytes = 1_048_576;
const allButOne = Buffer.alloc(bodyBytes - 1, 'x');

/** Bodies that stall one byte before their end fill the budget of unverified bytes. */
export const slowBodies: Attack = {
  name: 'slow-bodies',
  what: 'bodies of 1 MiB that stall one byte before their end',
  sockets: 640,
  opensPerSecond: 80,
  open: ({ write, count }) => {
    write(`POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\nContent-Length: ${bodyBytes}\r\n\r\n`);
    write(allButOne);
    count();
  },
};

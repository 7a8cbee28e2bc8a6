import { webhookPath, type Attack } from '../attack.ts';

const chunksAtOnce = 500;
const chunks = '1\r\nx\r\n'.repeat(chunksAtOnce);

/** A parser calls back for every chunk, and may keep a buffer for each. */
export const oneByteChunks: Attack = {
  name: 'one-byte-chunks',
  what: 'chunked bodies in chunks of one byte',
  sockets: 20,
  opensPerSecond: 100,
  open: ({ write, count }) => {
    write(`POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    count(chunksAtOnce);
  },
  again: {
    everyMs: 20,
    send: ({ write, count }) => {
      write(chunks);
      count(chunksAtOnce);
    },
  },
};

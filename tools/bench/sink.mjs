// An endpoint that costs as little CPU as possible: it counts requests and answers 200, without an HTTP parser. A process of its
// own that takes its orders as messages.
import { createServer } from 'node:net';

const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok');
let count = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  // A worker that is killed resets its connections.
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(rest.toString('latin1', 0, headEnd + 2))?.[1];
      const end = headEnd + 4 + Number(length ?? 0);
      if (rest.length < end) return;
      rest = rest.subarray(end);
      count += 1;
      socket.write(answer);
    }
  });
});

process.on('message', (message) => {
  if (message === 'reset') count = 0;
  process.send?.({ count });
});
process.once('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
});

// An endpoint that costs as little CPU as possible: it counts requests and answers 200, without an HTTP parser. A process of its
// own that takes its orders as messages. Its argument is the number of addresses, 127.0.0.1 and the following.
import { createServer } from 'node:net';

const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok');
const nothing = Buffer.alloc(0);
let count = 0;
let delayMs = 0;

/** @param {import('node:net').Socket} socket */
function countRequest(socket) {
  count += 1;
  if (delayMs === 0) socket.write(answer);
  else setTimeout(() => socket.write(answer), delayMs);
}

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  let head = nothing;
  /** Bytes of the body that are still to come; undefined within a head. @type {number | undefined} */
  let bodyLeft;
  // A worker that is killed resets its connections.
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let rest = chunk;
    for (;;) {
      if (bodyLeft === undefined) {
        head = head.length === 0 ? rest : Buffer.concat([head, rest]);
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.toString('latin1', 0, end + 2))?.[1];
        bodyLeft = Number(length ?? 0);
        rest = head.subarray(end + 4);
        head = nothing;
      }
      const taken = Math.min(bodyLeft, rest.length);
      bodyLeft -= taken;
      if (bodyLeft > 0) return;
      bodyLeft = undefined;
      countRequest(socket);
      rest = rest.subarray(taken);
      if (rest.length === 0) return;
    }
  });
}

process.on('message', (message) => {
  if (message === 'reset') count = 0;
  else if (typeof message === 'object') ({ delayMs } = /** @type {{ delayMs: number }} */ (message));
  process.send?.({ count });
});
process.once('disconnect', () => process.exit());

const addresses = Number(process.argv[2]);
/** @param {number} address @param {number} port */
function listen(address, port) {
  const server = createServer({ noDelay: true }, serve);
  server.listen(port, `127.0.${address >> 8}.${address & 255}`, () => {
    const bound = server.address();
    const { port: shared } = /** @type {import('node:net').AddressInfo} */ (bound);
    if (address < addresses) listen(address + 1, shared);
    else process.send?.({ port: shared });
  });
}
listen(1, 0);

// Endpoints, one per path, that measure the time of each webhook from received to delivered: its id contains the time it was
// received. A process of its own that takes its orders as messages.
import { createServer } from 'node:http';

/**
 * @typedef {'answer' | 'fail' | 'fail_first' | 'hang' | 'slow'} Mode
 * @typedef {{ count: number; latenciesMs: number[]; arrivals: { at: number; receivedAt: number; id: string; attempt: number }[]; mostInFlight: number }} Seen
 */

/** @type {Map<string, Mode>} */
let modes = new Map();
/** @type {Map<string, Seen>} */
let seen = new Map();
/** @type {Map<string, number>} */
const inFlight = new Map();

/** @param {string} path */
function seenAt(path) {
  const here = seen.get(path) ?? { count: 0, latenciesMs: [], arrivals: [], mostInFlight: 0 };
  seen.set(path, here);
  return here;
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const path = request.url ?? '';
  // Finer than a millisecond.
  const at = performance.timeOrigin + performance.now();
  const id = String(request.headers['webhook-id']);
  const receivedAt = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const here = seenAt(path);
  here.count += 1;
  here.latenciesMs.push(at - receivedAt);
  const attempt = Number(request.headers['x-hqrelay-attempt']);
  here.arrivals.push({ at, receivedAt, id, attempt });
  const now = (inFlight.get(path) ?? 0) + 1;
  inFlight.set(path, now);
  here.mostInFlight = Math.max(here.mostInFlight, now);
  response.once('close', () => inFlight.set(path, (inFlight.get(path) ?? 1) - 1));
  request.resume();
  const mode = modes.get(path) ?? 'answer';
  if (mode === 'hang') return;
  const fails = mode === 'fail' || (mode === 'fail_first' && attempt === 1);
  const answer = () => {
    response.writeHead(fails ? 503 : 200, { 'content-type': 'text/plain', 'content-length': 2 });
    response.end('ok');
  };
  if (mode === 'slow') setTimeout(answer, 20_000);
  else answer();
});

process.on('message', (/** @type {{ modes?: Record<string, Mode>; take?: boolean }} */ order) => {
  if (order.modes) modes = new Map(Object.entries(order.modes));
  const answer = Object.fromEntries(seen);
  if (order.take) seen = new Map();
  process.send?.(
    order.take ? answer : Object.fromEntries([...seen].map(([path, { count }]) => [path, count])),
  );
});
process.once('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
});

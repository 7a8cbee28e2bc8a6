import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One POST at the endpoint. Times are `performance.now()`, ms. */
export type Arrival = {
  attemptNum: number;
  at: number;
  /** What it was answered, if the connection lasted. */
  answered?: number;
};

export type HowToAnswer = (webhookId: string, attemptNum: number) => { statusCode: number; delayMs: number };

export type Endpoint = {
  name: string;
  url: string;
  /** By `webhook-id`, in order of arrival. */
  arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** Requests that are being answered right now. */
  inFlight: () => number;
  /** Requests whose sender went away before they were answered. */
  cut: () => number;
  /** Stops listening and cuts every connection; `open` listens on the same port again. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  /** Takes requests and does not answer them, until it is told otherwise. */
  hang: (isHanging: boolean) => void;
};

/** The customer's side: counts what arrives and answers as it is told. */
export async function startEndpoint(name: string, how: HowToAnswer): Promise<Endpoint> {
  const arrivals = new Map<string, Arrival[]>();
  const sockets = new Set<Socket>();
  let inFlight = 0;
  let cut = 0;
  let hangs = false;

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    request.once('end', () => {
      const webhookId = String(request.headers['webhook-id']);
      const arrival: Arrival = {
        attemptNum: Number(request.headers['x-hqrelay-attempt']),
        at: performance.now(),
      };
      const before = arrivals.get(webhookId);
      if (before) before.push(arrival);
      else arrivals.set(webhookId, [arrival]);
      inFlight += 1;
      response.once('close', () => {
        inFlight -= 1;
        if (arrival.answered === undefined) cut += 1;
      });
      if (!hangs) answer(response, arrival, how(webhookId, arrival.attemptNum));
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
  });

  let port = 0;
  const open = async () => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
    ({ port } = server.address() as AddressInfo);
  };
  await open();
  return {
    name,
    url: `http://127.0.0.1:${port}/${name}`,
    arrivals,
    inFlight: () => inFlight,
    cut: () => cut,
    open,
    hang: (isHanging) => (hangs = isHanging),
    shut: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function answer(
  response: ServerResponse,
  arrival: Arrival,
  { statusCode, delayMs }: ReturnType<HowToAnswer>,
): void {
  setTimeout(() => {
    if (response.destroyed) return;
    arrival.answered = statusCode;
    response.writeHead(statusCode, { 'content-type': 'text/plain' });
    response.end('ok');
  }, delayMs);
}

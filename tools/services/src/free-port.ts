import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the kernel's range for outgoing connections, any of which could take a port before its server does.
const lowest = 15_000;
const count = 17_000;

/** Different ports of 127.0.0.1 on which no process listens now. */
export async function freePorts(wanted: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < wanted) {
    const port = lowest + randomInt(count);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** Whether a server could listen on this port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

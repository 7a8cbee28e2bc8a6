import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the kernel's range for outgoing connections, any of which could take a port before its server does.
const lowest = 15_000;
const count = 17_000;

/**
 * Different ports of 127.0.0.1 on which no process listens now. No other call gets them before this process ends, because a
 * server listens a while after its port was chosen, and some servers are stopped and started again.
 */
export async function freePorts(wanted: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < wanted) {
    const port = lowest + randomInt(count);
    if ((await reserve(port)) && (await isFree(port))) ports.add(port);
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

/** False when a process of this machine has reserved the port. The kernel ends a reservation with its process. */
function reserve(port: number): Promise<boolean> {
  // Only Linux has names of sockets without a file.
  if (process.platform !== 'linux') return Promise.resolve(true);
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy()).unref();
    server.once('error', () => resolve(false));
    server.listen(`\0hqrelay-port-${port}`, () => resolve(true));
  });
}

import { once, type EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { AppProcess } from '@hqrelay/services/app-process';

/** MiB after garbage collection: resident, objects of V8, and buffers that V8 knows of. */
export type ReceiverMemory = { rss: number; heap: number; external: number };

const readings = 5;
const readingEveryMs = 700;

/**
 * The least of several readings, because sockets, rows and freed memory of the last requests are still being released. `lines`
 * emits the receiver's output. Throws when the receiver, which needs the preload `report-memory.mjs`, is silent for 10 s.
 */
export async function readMemory(receiver: AppProcess, lines: EventEmitter): Promise<ReceiverMemory> {
  const all: ReceiverMemory[] = [];
  for (let reading = 0; reading < readings; reading += 1) {
    if (reading > 0) await wait(readingEveryMs);
    receiver.signal('SIGUSR2');
    all.push(await reported(lines));
  }
  return {
    rss: leastMib(all.map(({ rss }) => rss)),
    heap: leastMib(all.map(({ heap }) => heap)),
    external: leastMib(all.map(({ external }) => external)),
  };
}

/** In bytes. */
async function reported(lines: EventEmitter): Promise<ReceiverMemory> {
  const signal = AbortSignal.timeout(10_000);
  for (;;) {
    const [line] = (await once(lines, 'line', { signal })) as [string];
    if (!line.includes('"event":"memory"')) continue;
    const { rss, heapUsed, external } = JSON.parse(line.slice(line.indexOf('{'))) as {
      rss: number;
      heapUsed: number;
      external: number;
    };
    return { rss, heap: heapUsed, external };
  }
}

function leastMib(bytes: readonly number[]): number {
  return Math.round((Math.min(...bytes) / (1 << 20)) * 10) / 10;
}

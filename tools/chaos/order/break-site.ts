import { setTimeout as wait } from 'node:timers/promises';
import type { AppProcess } from '@hqrelay/services/app-process';
import { readyWithinMs, type OrderSite } from './order-site.ts';
import type { OrderFault } from './random-round.ts';

/** A part of the site, how a fault breaks it, and how it is repaired. */
type Broken = { part: object; break: () => Promise<unknown>; repair: () => Promise<unknown> };

/** Runs the faults of a round, each at its time. A fault of a part that is broken already does nothing. */
export async function breakSite(site: OrderSite, faults: readonly OrderFault[]): Promise<void> {
  const broken = new Set<object>();
  await Promise.all(
    faults.map(async (fault) => {
      await wait(fault.atMs);
      const { part, ...work } = brokenBy(site, fault);
      if (broken.has(part)) return;
      broken.add(part);
      await work.break();
      await wait(fault.forMs);
      await work.repair();
      broken.delete(part);
    }),
  );
}

function brokenBy(site: OrderSite, { what, which }: OrderFault): Broken {
  const app = (apps: readonly AppProcess[], signal: 'SIGKILL' | 'SIGTERM'): Broken => {
    const part = apps[which % apps.length]!;
    return {
      part,
      break: () => part.end(signal),
      repair: () => {
        part.start();
        return part.waitUntilReady(readyWithinMs);
      },
    };
  };
  const server = (name: 'rabbitmq' | 'postgres', how: 'kill' | 'stop'): Broken => {
    const part = site.server(name);
    return { part, break: () => part[how](), repair: () => part.start() };
  };
  switch (what) {
    case 'worker killed':
      return app(site.workers, 'SIGKILL');
    case 'worker leaves':
      return app(site.workers, 'SIGTERM');
    case 'receiver killed':
      return app(site.receivers, 'SIGKILL');
    case 'RabbitMQ killed':
      return server('rabbitmq', 'kill');
    case 'RabbitMQ stopped':
      return server('rabbitmq', 'stop');
    case 'Postgres stopped':
      return server('postgres', 'stop');
  }
}

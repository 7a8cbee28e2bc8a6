import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AppProcess, AppSource } from '@hqrelay/services/app-process';
import type { SeededProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startFleet } from '../../harness/fleet.ts';
import { addProject } from '../../harness/projects.ts';
import { createChild, nextMessage } from '../children.ts';

/** `fail_first` fails the first attempt of each webhook, `slow` answers after 20 s. */
export type Mode = 'answer' | 'fail' | 'fail_first' | 'hang' | 'slow';

export type Seen = {
  count: number;
  latenciesMs: number[];
  /** ms since epoch, in order of arrival. */
  arrivals: { at: number; receivedAt: number; id: string; attempt: number }[];
  mostInFlight: number;
};

export type Target = SeededProject & { url: string; endpointId: string; path: string };

/** A receiver, some workers, and projects with one endpoint each at the timing sink. */
export type Site = {
  world: World;
  targets: readonly Target[];
  receivers: readonly AppProcess[];
  workers: readonly AppProcess[];
  /** Sets how endpoints answer, by path; those that are not named answer at once. */
  answer: (modes: Record<string, Mode>) => Promise<void>;
  /** How many requests have arrived since the last `take`, by path. */
  counts: () => Promise<Record<string, number>>;
  take: () => Promise<Record<string, Seen>>;
  /** Sends `count` webhooks to the targets in turn. All of them must be accepted. */
  send: (targets: readonly Target[], count: number, perSecond: number) => Promise<void>;
  close: () => Promise<void>;
};

export type SiteOptions = {
  services: DurableServices;
  apps: AppSource;
  targets: number;
  workers: number;
  /** The schedule of every endpoint. */
  retry?: string;
  /** Of every endpoint. */
  timeoutMs?: number;
  /** Variables of the apps beside the world's. */
  env?: Record<string, string>;
  /** The host name of each endpoint; 127.0.0.1 unless given. */
  hostOf?: (index: number) => string;
};

let sites = 0;

export async function createSite(options: SiteOptions): Promise<Site> {
  const world = await createWorld(options.services.urls);
  const logFolder = join(options.services.folder, `isolation-${(sites += 1)}`);
  mkdirSync(logFolder);
  const sink = fork(join(import.meta.dirname, 'timing-sink.mjs'), { execArgv: [] });
  const { port } = await nextMessage<{ port: number }>(sink);
  const atSink = createChild(sink);
  const load = createChild(fork(join(import.meta.dirname, 'steady-load.mjs'), { execArgv: [] }));
  const { receivers, workers, end } = await startFleet({
    from: options.apps,
    receivers: 1,
    workers: options.workers,
    env: { ...world.env, LOG_LEVEL: 'warn', ...options.env },
    logFolder,
  });
  const targets = await Promise.all(
    Array.from({ length: options.targets }, (_, index) =>
      addTarget(world, options, index, { sinkPort: port, receiverUrl: receivers[0]?.url as string }),
    ),
  );
  return {
    world,
    targets,
    receivers,
    workers,
    answer: async (modes) => void (await atSink.ask({ modes })),
    counts: () => atSink.ask({}),
    take: () => atSink.ask({ take: true }),
    send: async (to, count, perSecond) => {
      const order = {
        targets: to.map(({ url, secret }) => ({ url, secret })),
        perSecond,
        count,
        inFlightMax: 128,
      };
      const { refused } = await load.ask<{ refused: number }>(order);
      if (refused > 0) throw new Error(`${refused} of ${count} webhooks were not accepted`);
    },
    close: async () => {
      atSink.end();
      load.end();
      await end();
      await world.close();
    },
  };
}

/** A project with one endpoint, which has a path of its own at the sink. */
async function addTarget(
  world: World,
  { hostOf, retry = '30s,30s,30s', timeoutMs }: SiteOptions,
  index: number,
  { sinkPort, receiverUrl }: { sinkPort: number; receiverUrl: string },
): Promise<Target> {
  const path = `/${index}`;
  const { endpointIds, ...project } = await addProject(world, [
    {
      url: `http://${hostOf?.(index) ?? '127.0.0.1'}:${sinkPort}${path}`,
      retry,
      ...(timeoutMs && { timeoutMs }),
    },
  ]);
  return {
    ...project,
    endpointId: endpointIds[0] as string,
    path,
    url: `${receiverUrl}/v1/webhooks/${project.id}`,
  };
}

/** The 95th percentile. */
export function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;
}

/** Requests that have arrived at these targets since the last `take`. */
export async function countAt(site: Site, targets: readonly Target[]): Promise<number> {
  const counts = await site.counts();
  return targets.reduce((sum, { path }) => sum + (counts[path] ?? 0), 0);
}

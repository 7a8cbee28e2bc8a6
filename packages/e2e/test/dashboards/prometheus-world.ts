import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@hqrelay/services/app-process';
import { freePorts } from '@hqrelay/services/free-port';
import { startPrivatePrometheus } from '@hqrelay/services/servers/private-prometheus';
import { startPrivateRabbitmq, type RunningRabbitmq } from '@hqrelay/services/servers/private-rabbitmq';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { inject } from 'vitest';

export type Sample = { labels: Readonly<Record<string, string>>; value: number };

export type Alert = {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  state: 'pending' | 'firing';
};

export type PrometheusWorld = Omit<World, 'close'> & {
  broker: RunningRabbitmq;
  receiver: AppProcess;
  workers: readonly AppProcess[];
  console: AppProcess;
  /** The samples of an expression, at a time in ms since epoch, or now. */
  query: (expression: string, at?: number) => Promise<Sample[]>;
  alerts: () => Promise<Alert[]>;
  close: () => Promise<void>;
};

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const say = (line: string) => void process.stderr.write(`${line}\n`);

type Options = {
  /** Servers that the test may stop. */
  own?: readonly ('redis' | 'postgres')[];
  /** Changes the text of the alert rules. */
  shorten?: (rules: string) => string;
  /** Modules that Node loads before each worker. */
  preload?: readonly string[];
};

/**
 * A receiver, two workers, a console and a RabbitMQ with its exporter, scraped every second by a Prometheus with the configuration of
 * `deploy/prometheus`.
 */
export async function openPrometheusWorld({
  own = ['redis'],
  shorten = (rules) => rules,
  preload = [],
}: Options = {}): Promise<PrometheusWorld> {
  const world = await createWorld(inject('run'), { own });
  const dir = makeThrowAwayFolder('hqrelay-prometheus-', inject('run').folder);
  const { broker, exporterPort } = await startBroker(join(dir, 'rabbitmq'));
  // A worker holds seven messages of this size, so that the next ones wait in the queue.
  const env = { ...world.env, RABBITMQ_URL: broker.url, BODY_BYTES_MAX: String(8 << 20) };
  const apps = await Promise.all([
    startApp('receiver', { env }),
    startApp('console', { env }),
    startApp('worker', { env, preload }),
    startApp('worker', { env, preload }),
  ]);
  const [receiver, console, ...workers] = apps;
  await Promise.all(apps.map((app) => app.waitUntilReady()));
  const prometheus = await startPrometheus(
    join(dir, 'prometheus'),
    shorten(read('deploy/prometheus/alerts.yml')),
    {
      receiver: [receiver.port],
      worker: workers.map(({ port }) => port),
      console: [console.port],
      rabbitmq: [exporterPort],
    },
  );
  return {
    ...world,
    broker,
    receiver,
    workers,
    console,
    query: async (expression, at = Date.now()) => {
      const search = new URLSearchParams({ query: expression, time: String(at / 1_000) });
      const { result } = await ask<{ result: { metric: Sample['labels']; value: [number, string] }[] }>(
        `${prometheus.url}/api/v1/query?${search.toString()}`,
      );
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    alerts: async () => (await ask<{ alerts: Alert[] }>(`${prometheus.url}/api/v1/alerts`)).alerts,
    close: async () => {
      await prometheus.stop();
      await Promise.all(apps.filter((app) => app.isRunning()).map((app) => app.end('SIGKILL')));
      await broker.discard();
      await world.close();
      removeThrowAwayFolder(dir);
    },
  };
}

async function startBroker(dir: string) {
  const [amqp = 0, distribution = 0, epmd = 0, management = 0, exporterPort = 0] = await freePorts(5);
  mkdirSync(dir, { recursive: true });
  const ports = { amqp, distribution, epmd, management };
  return { broker: await startPrivateRabbitmq({ dir, ports, exporterPort }), exporterPort };
}

async function startPrometheus(
  dir: string,
  rules: string,
  portsOf: Readonly<Record<string, readonly number[]>>,
) {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'alerts.yml'), rules);
  const configuration = read('deploy/prometheus/prometheus.yml')
    .replaceAll(/(scrape_interval|scrape_timeout): \d+s/g, '$1: 1s')
    .replace(/evaluation_interval: \d+s/, 'evaluation_interval: 500ms')
    .replaceAll(/dns_sd_configs: \[\{ names: \[(\w+)\].*\]/g, (_, name: string) => {
      const targets = portsOf[name]?.map((port) => `'127.0.0.1:${port}'`);
      return `static_configs: [{ targets: [${targets?.join(', ')}] }]`;
    });
  const [port = 0] = await freePorts(1);
  const prometheus = await startPrivatePrometheus({ dir, port, configuration, say });
  await waitFor('every target to be scraped', async () => {
    const { activeTargets } = await ask<{ activeTargets: { health: string }[] }>(
      `${prometheus.url}/api/v1/targets`,
    );
    return activeTargets.length === 5 && activeTargets.every(({ health }) => health === 'up');
  });
  return prometheus;
}

async function ask<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}

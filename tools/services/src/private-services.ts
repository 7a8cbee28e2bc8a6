import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installPackages, type Say } from './servers/debian-packages.ts';
import { freePorts, isFree } from './free-port.ts';
import { findPostgresBinaries, startPrivatePostgres } from './servers/private-postgres.ts';
import {
  findRabbitmqServer,
  startPrivateRabbitmq,
  type RunningRabbitmq,
} from './servers/private-rabbitmq.ts';
import { persistentSecret } from './servers/persistent-secret.ts';
import { findRedisServer, startPrivateRedis } from './servers/private-redis.ts';
import type { RunningServer } from './running-server.ts';

export type ServiceName = 'postgres' | 'redis' | 'rabbitmq';

export type PrivateServers = { postgres: RunningServer; redis: RunningServer; rabbitmq: RunningRabbitmq };

export type PrivateServicesOptions = {
  dir: string;
  /** Whether confirmed and committed data survives a crash of the machine. */
  durable: boolean;
  say: Say;
  postgresSettings?: readonly string[];
  rabbitmqSettings?: readonly string[];
  /** RabbitMQ's HTTP API; on when absent. */
  management?: boolean;
};

const portsFreeWithinMs = 10_000;

const packages: Record<ServiceName, { name: string; isInstalled: () => boolean }> = {
  postgres: { name: 'postgresql', isInstalled: () => findPostgresBinaries() !== undefined },
  redis: { name: 'redis-server', isInstalled: () => findRedisServer() !== undefined },
  rabbitmq: { name: 'rabbitmq-server', isInstalled: () => findRabbitmqServer() !== undefined },
};

/** The Debian packages that are missing for these services. */
export function missingPackages(services: readonly ServiceName[]): string[] {
  return services.filter((name) => !packages[name].isInstalled()).map((name) => packages[name].name);
}

/** Installs missing packages and starts private servers for the named services. When one does not start, stops the others and throws. */
export async function startPrivateServers<Name extends ServiceName>(
  names: readonly Name[],
  options: PrivateServicesOptions,
): Promise<Pick<PrivateServers, Name>> {
  const { dir, say } = options;
  const missing = missingPackages(names);
  if (missing.length > 0) await installPackages(missing, say);
  mkdirSync(dir, { recursive: true });
  const launchers = launchersOf(options, await persistentPorts(join(dir, 'ports.json'), names, say));
  const started = await Promise.allSettled(names.map((name) => launchers[name]()));
  const failed = started.find((outcome) => outcome.status === 'rejected');
  if (failed) {
    await Promise.all(
      started.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.stop()] : [])),
    );
    throw failed.reason;
  }
  const servers = names.map((name, index) => [
    name,
    (started[index] as PromiseFulfilledResult<unknown>).value,
  ]);
  return Object.fromEntries(servers) as Pick<PrivateServers, Name>;
}

function launchersOf(
  { dir, durable, postgresSettings, rabbitmqSettings, management }: PrivateServicesOptions,
  ports: Ports,
): { [Each in ServiceName]: () => Promise<PrivateServers[Each]> } {
  return {
    postgres: () =>
      startPrivatePostgres({
        dir: join(dir, 'postgres'),
        port: ports.postgres,
        durable,
        ...(postgresSettings && { settings: postgresSettings }),
      }),
    redis: () => {
      const data = join(dir, 'redis');
      mkdirSync(data, { recursive: true });
      const password = persistentSecret(join(data, 'password'));
      return startPrivateRedis({ dir: data, port: ports.redis, durable, password });
    },
    rabbitmq: () =>
      startPrivateRabbitmq({
        dir: join(dir, 'rabbitmq'),
        ports: ports.rabbitmq,
        ...(management !== undefined && { management }),
        ...(rabbitmqSettings && { settings: rabbitmqSettings }),
      }),
  };
}

/** Starts Postgres, Redis and RabbitMQ. */
export async function startPrivateServices(
  options: PrivateServicesOptions,
): Promise<PrivateServers & { stop: () => Promise<void>; discard: () => Promise<void> }> {
  const servers = await startPrivateServers(['postgres', 'redis', 'rabbitmq'], options);
  return { ...servers, stop: () => stopServers(servers), discard: () => discardServers(servers) };
}

export async function stopServers(servers: Partial<PrivateServers>): Promise<void> {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
}

/** Ends servers whose data is discarded. */
export async function discardServers(servers: Partial<PrivateServers>): Promise<void> {
  await Promise.all(Object.values(servers).map((server) => server.discard()));
}

type Ports = {
  postgres: number;
  redis: number;
  rabbitmq: { amqp: number; distribution: number; epmd: number; management: number };
};

/**
 * The ports of a folder are chosen once, so that its URLs stay valid. When another process has taken a port since, the server
 * moves to a new one; before that, servers of a killed run get time to end.
 */
async function persistentPorts(file: string, names: readonly ServiceName[], say: Say): Promise<Ports> {
  const ports = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Ports) : await newPorts();
  for (const name of names) {
    const wanted = name === 'rabbitmq' ? Object.values(ports.rabbitmq) : [ports[name]];
    if (await allFreeWithin(portsFreeWithinMs, wanted)) continue;
    const { [name]: others } = await newPorts();
    Object.assign(ports, { [name]: others });
    say(`${name}: port ${wanted.join(' or ')} of the last run is taken, so it moves to another`);
  }
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}

async function newPorts(): Promise<Ports> {
  const [postgres, redis, amqp, distribution, epmd, management] = (await freePorts(6)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { postgres, redis, rabbitmq: { amqp, distribution, epmd, management } };
}

async function allFreeWithin(timeoutMs: number, ports: readonly number[]): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const free = await Promise.all(ports.map(isFree));
    if (!free.includes(false)) return true;
    if (Date.now() > deadline) return false;
    await wait(100);
  }
}

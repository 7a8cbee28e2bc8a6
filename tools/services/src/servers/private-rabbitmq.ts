import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { listens } from '../listens.ts';
import { persistentSecret } from './persistent-secret.ts';
import { findProgram } from '../programs.ts';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess, type ServerCommand } from '../process/server-process.ts';

export type PrivateRabbitmqOptions = {
  dir: string;
  ports: RabbitmqPorts;
  /** Its HTTP API, which makes virtual hosts quickly, and a stop five seconds slower. On when absent. */
  management?: boolean;
  /** Where Prometheus may scrape the broker; nowhere when absent. */
  exporterPort?: number;
  /** Further lines of rabbitmq.conf. */
  settings?: readonly string[];
};

export type RabbitmqPorts = { amqp: number; distribution: number; epmd: number; management: number };

export type RunningRabbitmq = RunningServer & {
  managementUrl: string;
  /** Runs RabbitMQ's own command line tool at this broker. Throws when it fails. */
  rabbitmqctl: (...args: string[]) => Promise<void>;
};

const user = 'hqrelay';
const nodeName = 'hqrelay@localhost';

/**
 * RabbitMQ on 127.0.0.1, with a port mapper (epmd) of its own that ends with it, so that brokers run side by side and leave no
 * process. Started by RabbitMQ's own script, because Debian's wrapper uses the system's folders.
 */
export async function startPrivateRabbitmq(options: PrivateRabbitmqOptions): Promise<RunningRabbitmq> {
  const { dir, ports } = options;
  const command = findRabbitmqServer();
  if (!command) throw new Error('RabbitMQ is not installed');
  for (const name of ['mnesia', 'log', 'home']) mkdirSync(join(dir, name), { recursive: true });
  const password = persistentSecret(join(dir, 'password'));
  writeSettings(options, password);
  const env = environmentOf(options);
  const epmd = new PortMapper(command, ports.epmd, { env, logFile: join(dir, 'epmd.log') });
  const server = await runServer(
    { url: `amqp://${user}:${password}@127.0.0.1:${ports.amqp}`, port: ports.amqp },
    async () => {
      await epmd.start();
      return startBroker(command, options, env);
    },
  ).catch(async (error: unknown) => {
    await epmd.stop();
    throw error;
  });
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await epmd.stop();
    },
    discard: async () => {
      await server.kill();
      await epmd.stop();
    },
    managementUrl: `http://${user}:${password}@127.0.0.1:${ports.management}`,
    rabbitmqctl: async (...args) => {
      await promisify(execFile)(join(dirname(command), 'rabbitmqctl'), ['-n', nodeName, ...args], {
        // The cookie that the node accepts is in its home folder.
        env: { ...env, RABBITMQ_CONF_ENV_FILE: join(dir, 'none.conf') },
      });
    },
  };
}

function writeSettings(
  { dir, ports, management = true, exporterPort, settings = [] }: PrivateRabbitmqOptions,
  password: string,
): void {
  const lines = [
    `listeners.tcp.1 = 127.0.0.1:${ports.amqp}`,
    ...(management ? [`management.tcp.port = ${ports.management}`, 'management.tcp.ip = 127.0.0.1'] : []),
    ...(exporterPort === undefined
      ? []
      : [`prometheus.tcp.port = ${exporterPort}`, 'prometheus.tcp.ip = 127.0.0.1']),
    `default_user = ${user}`,
    `default_pass = ${password}`,
    'disk_free_limit.absolute = 50MB',
    'log.console = true',
    'log.console.level = warning',
    'log.file = false',
    ...settings,
    '',
  ];
  const file = join(dir, 'rabbitmq.conf');
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  chmodSync(file, 0o600);
  const plugins = [
    ...(management ? ['rabbitmq_management'] : []),
    ...(exporterPort === undefined ? [] : ['rabbitmq_prometheus']),
  ];
  writeFileSync(join(dir, 'enabled_plugins'), `[${plugins.join(',')}].\n`);
}

function environmentOf({ dir, ports }: PrivateRabbitmqOptions): Record<string, string | undefined> {
  return {
    ...process.env,
    HOME: join(dir, 'home'),
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: nodeName,
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
    RABBITMQ_LOG_BASE: join(dir, 'log'),
    RABBITMQ_CONFIG_FILE: join(dir, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(dir, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'enabled_plugins'),
    RABBITMQ_PID_FILE: pidFileIn(dir),
    ERL_CRASH_DUMP: join(dir, 'erl_crash.dump'),
    // A client of the distribution port can run code, so the port is for this machine alone. Schedulers that spin while
    // they wait would take the cores from the other processes.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
  };
}

const pidFileIn = (dir: string): string => join(dir, 'rabbitmq.pid');

async function startBroker(
  command: string,
  { dir, ports }: PrivateRabbitmqOptions,
  env: Record<string, string | undefined>,
): Promise<ServerProcess> {
  const broker = new ServerProcess({
    name: 'RabbitMQ',
    command,
    args: [],
    env,
    logFile: join(dir, 'rabbitmq.log'),
    stopSignal: 'SIGTERM',
    pidFile: pidFileIn(dir),
  });
  await broker.waitUntil(() => greetsAmqp(ports.amqp), 180_000);
  return broker;
}

/** Erlang's epmd. Without it a broker starts one that outlives the broker. */
class PortMapper {
  readonly #command: ServerCommand;
  readonly #port: number;
  #process: ServerProcess | undefined;

  constructor(rabbitmqServer: string, port: number, options: Pick<ServerCommand, 'env' | 'logFile'>) {
    this.#port = port;
    const args = ['-port', String(port)];
    this.#command = {
      name: 'epmd',
      command: findEpmd(rabbitmqServer),
      args,
      stopSignal: 'SIGTERM',
      ...options,
    };
  }

  /** Resolves when it answers, at once where it runs already. */
  async start(): Promise<void> {
    if (this.#process?.isRunning) return;
    this.#process = new ServerProcess(this.#command);
    await this.#process.waitUntil(() => listens(this.#port), 60_000);
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    this.#process = undefined;
  }
}

/** Beside RabbitMQ's own programs where there is one, or else on the PATH. */
function findEpmd(rabbitmqServer: string): string {
  const beside = join(dirname(rabbitmqServer), 'epmd');
  return existsSync(beside) ? beside : 'epmd';
}

export function findRabbitmqServer(): string | undefined {
  const installed = '/usr/lib/rabbitmq/bin/rabbitmq-server';
  return findProgram('rabbitmq-server', () => (existsSync(installed) ? installed : undefined));
}

/** Sends a wrong header: a broker that is up answers it, a broker that still boots accepts the connection and does not. */
function greetsAmqp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('AMQP\0\0\0\0'));
    socket.once('data', (data) => end(data.toString('latin1', 0, 4) === 'AMQP'));
    socket
      .once('error', () => end(false))
      .once('timeout', () => end(false))
      .once('end', () => end(false));
  });
}

import { join } from 'node:path';
import { encodeMessage } from '@hqrelay/queue/messages';
import { assertTopology, workExchange } from '@hqrelay/queue/topology';
import { freePorts } from '@hqrelay/services/free-port';
import { createApp, type AppName, type AppSource } from '@hqrelay/services/app-process';
import { ServerProcess } from '@hqrelay/services/process/server-process';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { Channel } from 'amqplib';
import type { DurableServices } from '../harness/durable-services.ts';
import { addProject } from '../harness/projects.ts';

export type PipelineName = 'product' | 'bare';

/** One process of a pipeline, ready for work. */
export type Stage = { pid: () => number; stop: () => Promise<unknown> };

/** A receiver and a worker, the product's or bare ones, with a database and a virtual host of their own. */
export type Pipeline = {
  name: PipelineName;
  world: World;
  /** Webhooks are posted to `url`, signed with `secret`. */
  url: string;
  secret: string;
  endpointId: string;
  /** How a receiver publishes a webhook to the worker. */
  work: {
    prepare: (channel: Channel) => Promise<unknown>;
    exchange: string;
    routingKey: string;
    encode: (webhook: { id: string; headers: [string, string][]; body: Buffer }) => Buffer;
  };
  startReceiver: () => Promise<Stage>;
  startWorker: () => Promise<Stage>;
  close: () => Promise<void>;
};

export type PipelineOptions = {
  services: DurableServices;
  apps: AppSource;
  sinkUrl: string;
  /** More variables for the processes. */
  env?: Readonly<Record<string, string>>;
  /** Modules that Node loads before the processes. */
  preload?: readonly string[];
  /** Of the endpoint; unordered when absent. */
  orderingKey?: string;
};

export async function createProduct(options: PipelineOptions): Promise<Pipeline> {
  const { world, project, endpointId } = await prepare(options);
  const env = { ...world.env, ...options.env };
  const start = async (app: AppName, port: number): Promise<Stage> => {
    const logFile = join(options.services.folder, `${app}.log`);
    const { apps: from, preload = [] } = options;
    const started = await createApp({ app, port, from, env, logFile, preload });
    started.start();
    await started.waitUntilReady();
    await waitFor(`every store of the ${app}`, () => hasEveryStore(port));
    return { pid: () => started.pid(), stop: () => started.end() };
  };
  const [receiverPort, workerPort] = (await freePorts(2)) as [number, number];
  return {
    name: 'product',
    world,
    url: `http://127.0.0.1:${receiverPort}/v1/webhooks/${project.id}`,
    secret: project.secret,
    endpointId,
    work: {
      prepare: assertTopology,
      exchange: workExchange,
      routingKey: 'hqrelay.webhooks',
      encode: ({ id, headers, body }) =>
        encodeMessage({
          envelope: {
            v: 1,
            id,
            projectId: project.id,
            eventType: 'payment.captured',
            correlationId: id,
            endpointIds: [endpointId],
            headers,
          },
          body,
        }),
    },
    startReceiver: () => start('receiver', receiverPort),
    startWorker: () => start('worker', workerPort),
    close: world.close,
  };
}

/** An app is ready on one store alone: a receiver accepts through the outbox until the broker is there. */
async function hasEveryStore(port: number): Promise<boolean> {
  const health = await (await fetch(`http://127.0.0.1:${port}/health/ready`)).json();
  return (health as { status: string }).status === 'ready';
}

/** The same durable effects by scripts without any code of the product: the limit of the machine and the stores. */
export async function createBare(options: PipelineOptions): Promise<Pipeline> {
  const { world, project, endpointId } = await prepare(options);
  const [port] = (await freePorts(1)) as [number];
  const env = {
    ...world.env,
    ...options.env,
    RECEIVER_PORT: String(port),
    PROJECT_ID: project.id,
    ENDPOINT_ID: endpointId,
    ENDPOINT_URL: options.sinkUrl,
    SECRET: project.secret,
  };
  const preloads = (options.preload ?? []).flatMap((path) => ['--import', path]);
  const start = (name: string): ServerProcess =>
    new ServerProcess({
      name: `bare ${name}`,
      command: process.execPath,
      args: [...preloads, join(import.meta.dirname, `bare/${name}.mjs`)],
      env: { ...process.env, ...env },
      logFile: join(options.services.folder, `bare-${name}.log`),
      stopSignal: 'SIGTERM',
    });
  const stage = (server: ServerProcess): Stage => ({ pid: () => server.pid, stop: () => server.stop() });
  return {
    name: 'bare',
    world,
    url: `http://127.0.0.1:${port}/`,
    secret: project.secret,
    endpointId,
    work: {
      prepare: (channel) =>
        channel.assertQueue('bare.webhooks', { durable: true, arguments: { 'x-queue-type': 'quorum' } }),
      exchange: '',
      routingKey: 'bare.webhooks',
      encode: ({ id, headers, body }) => {
        const envelope = Buffer.from(JSON.stringify({ id, headers }));
        const length = Buffer.alloc(4);
        length.writeUInt32BE(envelope.length);
        return Buffer.concat([length, envelope, body]);
      },
    },
    startReceiver: async () => {
      const server = start('receiver');
      await server.waitUntil(async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 401, 15_000);
      return stage(server);
    },
    startWorker: () => Promise.resolve(stage(start('worker'))),
    close: world.close,
  };
}

async function prepare({ services, sinkUrl, orderingKey }: PipelineOptions) {
  const world = await createWorld(services.urls);
  const project = await addProject(world, [
    { url: sinkUrl, retry: 'hqrelay', ...(orderingKey && { orderingKey }) },
  ]);
  return { world, project, endpointId: project.endpointIds[0] as string };
}

/** Rows that the pipeline has committed. */
export type Rows = { webhooks: number; attempts: number };

export async function countRows({ sql }: World): Promise<Rows> {
  const { rows } = await sql.query<Rows>(
    `select (select count(*)::int from webhook_logs where status = 'queued') as webhooks,
       (select count(*)::int from delivery_attempts where status = 'delivered') as attempts`,
  );
  return rows[0] as Rows;
}

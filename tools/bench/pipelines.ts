import { join } from 'node:path';
import { freePorts } from '@hqrelay/services/free-port';
import { ServerProcess } from '@hqrelay/services/server-process';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import { createApp } from '../chaos/app.ts';
import type { ChaosServices } from '../chaos/services.ts';
import { trustRedis } from '../chaos/trust-redis.ts';

export type PipelineName = 'product' | 'bare';

/** One process of a pipeline, ready for work. */
export type Stage = { pid: () => number; stop: () => Promise<void> };

/** A way from the provider to the endpoint, with a database and a virtual host of its own. */
export type Pipeline = {
  name: PipelineName;
  world: World;
  /** Where webhooks are posted, and what signs them. */
  url: string;
  secret: string;
  startReceiver: () => Promise<Stage>;
  startWorker: () => Promise<Stage>;
  close: () => Promise<void>;
};

export type PipelineOptions = {
  services: ChaosServices;
  /** The copy of what was built. */
  appFolder: string;
  sinkUrl: string;
};

export async function createProduct(options: PipelineOptions): Promise<Pipeline> {
  const { world, project } = await prepare(options);
  const start = async (kind: 'receiver' | 'worker', port: number): Promise<Stage> => {
    const app = await createApp({
      kind,
      name: kind,
      port,
      from: { kind: 'built', folder: options.appFolder },
      env: world.env,
      logFolder: options.services.folder,
    });
    app.start();
    await app.untilReady();
    return { pid: app.pid, stop: app.stop };
  };
  const [receiverPort, workerPort] = (await freePorts(2)) as [number, number];
  return {
    name: 'product',
    world,
    url: `http://127.0.0.1:${receiverPort}/v1/webhooks/${project.id}`,
    secret: project.secret,
    startReceiver: () => start('receiver', receiverPort),
    startWorker: () => start('worker', workerPort),
    close: world.close,
  };
}

/** The same durable effects by scripts without any code of the product: what the machine and the stores allow. */
export async function createBare(options: PipelineOptions): Promise<Pipeline> {
  const { world, project, endpointId } = await prepare(options);
  const [port] = (await freePorts(1)) as [number];
  const env = {
    ...world.env,
    RECEIVER_PORT: String(port),
    PROJECT_ID: project.id,
    ENDPOINT_ID: endpointId,
    ENDPOINT_URL: options.sinkUrl,
    SECRET: project.secret,
  };
  const start = (name: string): ServerProcess =>
    new ServerProcess({
      name: `bare ${name}`,
      command: process.execPath,
      args: [join(import.meta.dirname, `bare/${name}.mjs`)],
      env,
      logFile: join(options.services.folder, `bare-${name}.log`),
      stopSignal: 'SIGTERM',
    });
  const stage = (server: ServerProcess): Stage => ({ pid: () => server.pid, stop: () => server.stop() });
  return {
    name: 'bare',
    world,
    url: `http://127.0.0.1:${port}/`,
    secret: project.secret,
    startReceiver: async () => {
      const server = start('receiver');
      await server.waitUntil(async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 401, 15_000);
      return stage(server);
    },
    startWorker: () => Promise.resolve(stage(start('worker'))),
    close: world.close,
  };
}

async function prepare({ services, sinkUrl }: PipelineOptions) {
  const world = await createWorld(services.urls);
  const project = await seedProject(world);
  await trustRedis(world.redisUrl, [project.id]);
  const { id } = await seedEndpoint(world, project.id, { url: sinkUrl });
  return { world, project, endpointId: id };
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

import { join } from 'node:path';
import { freePorts } from '@hqrelay/services/free-port';
import { ServerProcess } from '@hqrelay/services/process/server-process';
import { prepare, type Pipeline, type PipelineOptions, type Stage } from './pipelines.ts';

/** The same durable effects by scripts without any code of the product: the limit of the machine and the stores. */
export async function createBare(options: PipelineOptions): Promise<Pipeline> {
  const { world, project } = await prepare(options);
  const endpointId = project.endpointIds[0] as string;
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

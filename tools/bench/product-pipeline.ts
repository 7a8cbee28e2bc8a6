import { join } from 'node:path';
import { createApp, type AppName } from '@hqrelay/services/app-process';
import { freePorts } from '@hqrelay/services/free-port';
import { encodeMessage } from '@hqrelay/queue/messages';
import { assertTopology, workExchange } from '@hqrelay/queue/topology';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { World } from '@hqrelay/testing/world';
import type { TargetProject } from '../harness/projects.ts';
import { prepare, type Pipeline, type PipelineOptions, type Stage } from './pipelines.ts';

export async function createProduct(options: PipelineOptions): Promise<Pipeline> {
  const { world, project } = await prepare(options);
  return productIn(world, [project], options);
}

type ProductOptions = Pick<PipelineOptions, 'services' | 'apps' | 'env' | 'preload'>;

/** The product in a world with projects that have the same secret and as many endpoints, the n-th of them for `type.<n>` alone. */
export async function productIn(
  world: World,
  projects: readonly TargetProject[],
  options: ProductOptions,
): Promise<Pipeline> {
  const [receiverPort, workerPort] = (await freePorts(2)) as [number, number];
  const start = starterOf(world, options);
  const [{ id, secret, endpointIds }] = projects as [TargetProject];
  return {
    name: 'product',
    world,
    url: `http://127.0.0.1:${receiverPort}${pathOf(id)}`,
    secret,
    endpointId: endpointIds[0] as string,
    ...(projects.length > 1 && {
      traffic: {
        paths: projects.map((project) => pathOf(project.id)),
        eventTypes: endpointIds.map((_, index) => `type.${index}`),
      },
    }),
    work: {
      prepare: assertTopology,
      exchange: workExchange,
      routingKey: 'hqrelay.webhooks',
      encode: encoderOf(projects),
    },
    startReceiver: () => start('receiver', receiverPort),
    startWorker: () => start('worker', workerPort),
    close: world.close,
  };
}

const pathOf = (projectId: string) => `/v1/webhooks/${projectId}`;

function starterOf(world: World, { services, apps: from, env, preload = [] }: ProductOptions) {
  return async (app: AppName, port: number): Promise<Stage> => {
    const logFile = join(services.folder, `${app}.log`);
    const started = await createApp({ app, port, from, env: { ...world.env, ...env }, logFile, preload });
    started.start();
    await started.waitUntilReady();
    await waitFor(`every store of the ${app}`, () => hasEveryStore(port));
    return { pid: () => started.pid(), stop: () => started.end() };
  };
}

/** Each message is of the next project, and of its next endpoint when all projects had one. */
function encoderOf(projects: readonly TargetProject[]): Pipeline['work']['encode'] {
  let number = 0;
  return ({ id, headers, body }) => {
    const project = projects[number % projects.length] as TargetProject;
    const turn = Math.floor(number / projects.length) % project.endpointIds.length;
    number += 1;
    const envelope = {
      v: 1 as const,
      id,
      projectId: project.id,
      eventType: projects.length > 1 ? `type.${turn}` : 'payment.captured',
      correlationId: id,
      endpointIds: [project.endpointIds[turn] as string],
      headers,
    };
    return encodeMessage({ envelope, body });
  };
}

/** An app is ready on one store alone: a receiver accepts through the outbox until the broker is there. */
async function hasEveryStore(port: number): Promise<boolean> {
  const health = await (await fetch(`http://127.0.0.1:${port}/health/ready`)).json();
  return (health as { status: string }).status === 'ready';
}

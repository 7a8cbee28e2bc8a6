import type { AppSource } from '@hqrelay/services/app-process';
import { lowestIdAt } from '@hqrelay/domain/ids';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { Channel } from 'amqplib';
import type { DurableServices } from '../harness/durable-services.ts';
import { addProject, type TargetProject } from '../harness/projects.ts';
import type { Traffic } from './children.ts';

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
  /** Of several projects; all requests go to `url` when absent. */
  traffic?: Traffic;
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

/** A world with one project that has one endpoint. */
export async function prepare({
  services,
  sinkUrl,
  orderingKey,
}: PipelineOptions): Promise<{ world: World; project: TargetProject }> {
  const world = await createWorld(services.urls);
  const project = await addProject(world, [
    { url: sinkUrl, retry: 'hqrelay', ...(orderingKey && { orderingKey }) },
  ]);
  return { world, project };
}

/** Rows that the pipeline has committed. */
export type Rows = { webhooks: number; attempts: number };

/** Those since a time, in ms since epoch; the older ones are not read. */
export async function countRows({ sql }: World, since = 0): Promise<Rows> {
  const { rows } = await sql.query<Rows>(
    `select (select count(*)::int from webhook_logs where status = 'queued' and received_at >= $1 and id >= $2) as webhooks,
       (select count(*)::int from delivery_attempts where status = 'delivered' and attempted_at >= $1 and id >= $2) as attempts`,
    [new Date(since), lowestIdAt(since)],
  );
  return rows[0] as Rows;
}

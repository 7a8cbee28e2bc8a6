import { join, resolve } from 'node:path';
import { appUser, databaseUrl, ownDatabaseUrls } from '@hqrelay/testing/run-services';
import { startPrivateServers, type PrivateServers } from '@hqrelay/services/private-services';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { addProject, type TargetProject } from '../../harness/projects.ts';
import type { Sink } from '../children.ts';
import { keepDatabase } from '../lists/filled-database.ts';
import { loadAudit } from '../lists/load.ts';
import { productIn } from '../product-pipeline.ts';
import type { PipelineOptions } from '../pipelines.ts';
import type { System } from './main.ts';

export type FullSize = { webhooks: number; projects: number; endpointsEach: number };
export type FullOptions = FullSize &
  Pick<PipelineOptions, 'services' | 'apps'> & {
    sink: Sink;
    /** Keeps the filled tables; those of a throw-away folder are removed with it. */
    folder: string | undefined;
    postgresSettings: readonly string[];
    say: (line: string) => void;
  };

/** So that the month that is written has more than half of the rows. */
const days = 30;

/** The product on servers of its own, with full audit tables and many customers. Its queues are empty. */
export async function openFullSystem(options: FullOptions): Promise<System> {
  const { services, folder, say, postgresSettings } = options;
  const dir = folder === undefined ? join(services.folder, 'full') : resolve(folder);
  const { postgres } = await startPrivateServers(['postgres'], { dir, durable: true, say, postgresSettings });
  let close = () => postgres.stop();
  try {
    const world = await fullWorld(postgres.url, options);
    close = async () => {
      await world.close();
      await postgres.stop();
    };
    const { redis, rabbitmq } = world.servers as PrivateServers;
    const servers = { redis, rabbitmq, postgres };
    const pipeline = await productIn(world, await addCustomers(world, options), options);
    say(`${options.projects} projects are added`);
    return {
      pipeline: { ...pipeline, close },
      services: { ...services, server: (name) => servers[name] },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A world of its own Redis and RabbitMQ, with the filled database instead of its own. */
async function fullWorld(
  serverUrl: string,
  { services, webhooks, projects, say }: FullOptions,
): Promise<World> {
  const name = `flat_${webhooks}`;
  await keepDatabase(serverUrl, name, async (pool, now) => {
    await loadAudit({ pool, webhooks, projects, days, now, say });
    await pool.query('vacuum (analyze)');
    // The worker would count the statistics of the loaded rows while it is measured.
    await pool.query('update statistics_progress set is_backfilled = true');
  });
  const world = await createWorld(services.urls, { own: ['redis', 'rabbitmq'], durable: true });
  const ownerDatabaseUrl = databaseUrl(serverUrl, name);
  const urls = { databaseUrl: databaseUrl(serverUrl, name, appUser), ownerDatabaseUrl };
  const sql = new pg.Pool({ connectionString: ownerDatabaseUrl, max: 3 });
  return {
    ...world,
    ...urls,
    env: {
      ...world.env,
      DATABASE_URL: urls.databaseUrl,
      MIGRATION_DATABASE_URL: ownerDatabaseUrl,
      ...ownDatabaseUrls(serverUrl, name),
    },
    sql,
    close: async () => {
      await sql.end();
      await world.close();
    },
  };
}

/** Each project has a host, and endpoints that share its webhooks by their event type. */
async function addCustomers(
  world: World,
  { sink, projects, endpointsEach }: FullOptions,
): Promise<TargetProject[]> {
  const added: TargetProject[] = [];
  for (let number = 0; number < projects; number += 1) {
    const endpoints = Array.from({ length: endpointsEach }, (_, index) => ({
      url: sink.urlAt(number),
      retry: 'hqrelay',
      eventTypes: [`type.${index}`],
    }));
    const secret = added[0]?.secret;
    added.push(await addProject({ ...world, pool: world.sql }, endpoints, secret ? { secret } : {}));
  }
  return added;
}

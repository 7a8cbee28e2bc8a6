import { trustMemory } from '@hqrelay/cache/admission/project-memory';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import type { World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import type pg from 'pg';

/** A project, and the ids of the endpoints that each of its webhooks owes. */
export type TargetProject = SeededProject & { endpointIds: string[] };

type EndpointToAdd = {
  url: string;
  retry: string;
  timeoutMs?: number;
  orderingKey?: string;
  eventTypes?: string[];
};

/** With a pool, many projects are added over few connections. */
type Seeding = World & { pool?: pg.Pool };

/** Adds a project with these endpoints, and its epoch in Redis, as `project create` does. */
export async function addProject(
  world: Seeding,
  endpoints: readonly EndpointToAdd[],
  options: { secret?: string } = {},
): Promise<TargetProject> {
  const project = await seedProject(world, options);
  const endpointIds: string[] = [];
  for (const endpoint of endpoints) endpointIds.push((await seedEndpoint(world, project.id, endpoint)).id);
  await withRedis(world, (redis) => trustMemory(redis, project.id));
  return { ...project, endpointIds };
}

/** Sets columns of an endpoint, such as `paused = true`, and announces it to the apps as the command line does. */
export async function changeEndpoint(world: World, endpointId: string, changes: string): Promise<void> {
  const { rows } = await world.sql.query<{ projectId: string }>(
    `update endpoints set ${changes} where id = $1 returning project_id as "projectId"`,
    [endpointId],
  );
  await withRedis(world, async (redis) => {
    for (const { projectId } of rows) await announceProjectChange(redis, projectId);
  });
}

async function withRedis(
  world: Pick<World, 'redisUrl'>,
  work: (redis: Redis) => Promise<unknown>,
): Promise<void> {
  const redis = new Redis(world.redisUrl);
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}

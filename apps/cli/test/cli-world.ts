import { connectRedis } from '@hqrelay/cache/connect-redis';
import { followProjectChanges } from '@hqrelay/cache/project-config';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, inject } from 'vitest';
import { type CliOutcome, jsonOf, runCli } from './run-cli.ts';

export type CliWorld = Awaited<ReturnType<typeof createCliWorld>>;

/** A world and the command line in it, closed after the file's tests. */
export async function openCliWorld(): Promise<CliWorld> {
  const world = await createCliWorld();
  afterAll(() => world.close());
  return world;
}

/** A world and the command line in it. */
export async function createCliWorld() {
  const world = await createWorld(inject('run'));
  const { env } = world;
  const closing: (() => unknown)[] = [];

  const runWith = (
    more: Record<string, string>,
    argv: readonly string[],
    stdin?: Buffer,
  ): Promise<CliOutcome> => runCli({ ...env, ...more }, argv, { stdin });

  return {
    env,
    sql: world.sql,
    runWith,
    run: (...argv: string[]) => runWith({}, argv),
    async createProject(...options: string[]): Promise<string> {
      const argv = ['project', 'create', '--name', 'Acme', '--json', ...options];
      return (jsonOf(await runWith({}, argv)) as { projectId: string }).projectId;
    },
    async addEndpoint(projectId: string, url: string, ...options: string[]) {
      const argv = ['endpoint', 'add', '--project', projectId, '--url', url, '--json', ...options];
      return jsonOf(await runWith({}, argv)) as { endpointId: string; signingSecret: string };
    },
    /** A set that receives the projects whose changes are announced from now on. */
    async announcements(): Promise<ReadonlySet<string | null>> {
      const redis = connectRedis(world.redisUrl, 'test');
      closing.push(() => redis.disconnect());
      const announced = new Set<string | null>();
      await new Promise<void>((resolve) =>
        followProjectChanges(redis, (projectId) => {
          announced.add(projectId);
          resolve();
        }),
      );
      return announced;
    },
    async close() {
      for (const close of closing) close();
      await world.close();
    },
  };
}

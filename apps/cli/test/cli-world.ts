import { connectRedis } from '@hqrelay/cache/connect-redis';
import { followProjectChanges } from '@hqrelay/cache/project-config';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, inject, onTestFinished } from 'vitest';
import { type CliOutcome, jsonOf, runCli } from './run-cli.ts';

export type CliWorld = Awaited<ReturnType<typeof openCliWorld>>;

/** A world and the command line in it, until the file's tests are over. */
export async function openCliWorld() {
  const world = await createWorld(inject('run'));
  const { env } = world;
  afterAll(() => world.close());

  const runWith = (
    more: Record<string, string>,
    argv: readonly string[],
    stdin?: Buffer,
  ): Promise<CliOutcome> => runCli({ ...env, ...more }, argv, { stdin });

  return {
    env,
    sql: world.sql,
    ownerDatabaseUrl: world.ownerDatabaseUrl,
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
      onTestFinished(() => redis.disconnect());
      const announced = new Set<string | null>();
      await new Promise<void>((resolve) =>
        followProjectChanges(redis, (projectId) => {
          announced.add(projectId);
          resolve();
        }),
      );
      return announced;
    },
  };
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { World } from '@hqrelay/testing/world';
import pg from 'pg';
import type { TargetProject } from '../harness/projects.ts';

const toolPath = 'apps/cli/dist/main.js';

/** The version that an operator upgrades from: a checkout in a folder of its own, built. */
export type PreviousVersion = {
  folder: string;
  /** Replaces the world's database by an empty one with the tables of that version. */
  migrate: (world: World) => Promise<void>;
  /** Does the same as `addProject` of the harness, by the command line tool of that version. */
  addProject: (world: World, endpoints: readonly { url: string; retry: string }[]) => Promise<TargetProject>;
};

/** Throws when the folder has no built checkout. */
export function openPreviousVersion(path: string): PreviousVersion {
  const folder = resolve(path);
  const tool = join(folder, toolPath);
  if (!existsSync(tool)) throw new Error(`${folder} has no ${toolPath}: run npm ci and npm run build there`);
  const run = async (world: World, ...args: string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], ...world.env };
    const { stdout } = await promisify(execFile)(process.execPath, [tool, ...args], { env, cwd: folder });
    return stdout;
  };
  return {
    folder,
    migrate: async (world) => {
      await emptyDatabase(world.ownerDatabaseUrl);
      await run(world, 'migrate');
    },
    addProject: async (world, endpoints) => {
      const created = await run(
        world,
        ...'project create --name chaos --rate-limit unlimited --json'.split(' '),
      );
      const { projectId, secret } = JSON.parse(created) as { projectId: string; secret: string };
      const endpointIds: string[] = [];
      for (const { url, retry } of endpoints) {
        const options = ['--project', projectId, '--url', url, '--retry', retry, '--json'];
        const added = JSON.parse(await run(world, 'endpoint', 'add', ...options)) as { endpointId: string };
        endpointIds.push(added.endpointId);
      }
      return { id: projectId, secret, requireTimestamp: false, endpointIds };
    },
  };
}

async function emptyDatabase(ownerDatabaseUrl: string): Promise<void> {
  const url = new URL(ownerDatabaseUrl);
  const name = pg.escapeIdentifier(url.pathname.slice(1));
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`drop database ${name} with (force)`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
}

import type { Project, ProjectSettings } from '@hqrelay/db/queries/projects';
import * as queries from '@hqrelay/db/queries/projects';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from './announce-change.ts';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';

/** Commits changes of a project and announces them. Throws CommandFailure when there is no such project. */
export async function saveProject(
  cli: Cli,
  projectId: string,
  changes: Partial<ProjectSettings>,
): Promise<Project> {
  const config = loadConfig(['DATABASE_URL', 'REDIS_URL', 'CONFIG_CACHE_TTL_SECONDS'], cli.env);
  const project = await withDatabase(config.databaseUrl, (pool) =>
    queries.updateProject(pool, projectId, changes),
  );
  if (!project) throw new CommandFailure(`there is no project ${projectId}`);
  await announceChange(cli, config, projectId);
  return project;
}

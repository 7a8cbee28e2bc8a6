import { lockProject, type Project } from '@hqrelay/db/queries/projects';
import type pg from 'pg';
import { done, refused, type ActionResult } from './action.ts';

/** Locks a project that may be changed. */
export async function takeProject(client: pg.PoolClient, projectId: string): Promise<ActionResult<Project>> {
  const project = await lockProject(client, projectId);
  if (!project) return refused('project.not_found', `there is no project ${projectId}`);
  return project.archivedAt
    ? refused('project.archived', `the project ${projectId} is archived: it cannot be changed`)
    : done(project);
}

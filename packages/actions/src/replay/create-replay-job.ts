import { inTransaction } from '@hqrelay/db/in-transaction';
import { readDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import { readProject } from '@hqrelay/db/queries/projects';
import { insertReplayJob, type ReplayJob } from '@hqrelay/db/queries/replay-jobs';
import type { ReplayPage } from '@hqrelay/db/queries/replay-page';
import type { ReplaySelection } from '@hqrelay/db/queries/replay-selection';
import { countReplayable } from '@hqrelay/db/queries/run-replay-batch';
import { newId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';

/** Counting ends at the first of the two limits; the job has none. */
const countLimit = { countMax: 100_000, withinMs: 20_000 };

/** How many deliveries can be replayed, and how many others cannot, by reason. */
export type ReplayCount = { count: number; capped: boolean; notReplayed: ReplayPage['notReplayed'] };

/** Counts what a replay job would replay, and changes nothing. */
export async function countReplay(
  pool: pg.Pool,
  selection: ReplaySelection,
): Promise<ActionResult<ReplayCount>> {
  const project = await findProjectOf(pool, selection);
  return project.kind === 'refused' ? project : done(await countReplayable(pool, selection, countLimit));
}

/** Creates a job, which workers run at its rate, the oldest first. */
export async function createReplayJob(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  input: { selection: ReplaySelection; ratePerSecond: number; requestedBy: string; now: number },
): Promise<ActionResult<{ job: ReplayJob; notReplayed: ReplayCount['notReplayed'] }>> {
  const { selection, ratePerSecond, requestedBy, now } = input;
  const project = await findProjectOf(pool, selection);
  if (project.kind === 'refused') return project;
  const { count, capped, notReplayed } = await countReplayable(pool, selection, countLimit);
  const job = await inTransaction(pool, async (client) => {
    const inserted = await insertReplayJob(
      client,
      {
        id: newId(now),
        projectId: project.value,
        selection,
        ratePerSecond,
        requestedBy,
        count,
        countCapped: capped,
      },
      now,
    );
    await recordChange(client, actor, {
      action: 'replay_job.create',
      projectId: project.value,
      target: inserted.id,
      before: null,
      after: { selection: loggable(selection), ratePerSecond, requestedBy, count, countCapped: capped },
    });
    return inserted;
  });
  return done({ job, notReplayed });
}

/** The project of a selection; null when its dead letters may be of several. */
async function findProjectOf(
  pool: pg.Pool,
  selection: ReplaySelection,
): Promise<ActionResult<string | null>> {
  if (selection.kind === 'dead_letter_ids') {
    const letters = await readDeadLetters(pool, selection.ids);
    const [projectId, ...others] = new Set(letters.map((letter) => letter.projectId));
    return done(others.length === 0 ? (projectId ?? null) : null);
  }
  const { projectId, endpointId } = namedIn(selection);
  if (projectId !== undefined && !(await readProject(pool, projectId))) {
    return refused('project.not_found', `there is no project ${projectId}`);
  }
  if (endpointId === undefined) return done(projectId ?? null);
  const endpoint = await readEndpoint(pool, endpointId);
  if (!endpoint) return refused('endpoint.not_found', `there is no endpoint ${endpointId}`);
  return endpoint.archivedAt
    ? refused('endpoint.archived', `the endpoint ${endpointId} is archived: nothing is sent to it`)
    : done(endpoint.projectId);
}

function namedIn(selection: Exclude<ReplaySelection, { kind: 'dead_letter_ids' }>): {
  projectId?: string | undefined;
  endpointId?: string | undefined;
} {
  switch (selection.kind) {
    case 'filtered_webhooks':
      return selection.filter;
    case 'webhook_ids':
      return { projectId: selection.projectId };
    case 'dead_letters':
      return selection;
    case 'webhooks':
      return { endpointId: selection.endpointId };
  }
}

/** A thousand ids are too many for a row of the log. */
function loggable(selection: ReplaySelection): object {
  return selection.kind === 'dead_letter_ids' || selection.kind === 'webhook_ids'
    ? { ...selection, ids: selection.ids.slice(0, 100) }
    : selection;
}

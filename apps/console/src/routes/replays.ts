import { cancelReplayJob } from '@hqrelay/actions/replay/cancel-replay-job';
import { countReplay, createReplayJob } from '@hqrelay/actions/replay/create-replay-job';
import { sortDeadLetters } from '@hqrelay/actions/replay/sort-dead-letters';
import {
  countReplaysOfJob,
  readReplayJob,
  readReplayJobPage,
  type ReplayJob,
} from '@hqrelay/db/queries/replay-jobs';
import type { ReplaySelection } from '@hqrelay/db/queries/replay-selection';
import type pg from 'pg';
import { z } from 'zod';
import { refuseOtherEndpoints } from '../api/find-named.ts';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute, refuse, reply, type ApiRefusal, type Reply } from '../api/route.ts';
import { pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { replayAnswer, replayJob, replayJobProgress, replayRequest } from '../schemas/replay.ts';
import { mapItems, mapReply } from './map-reply.ts';

const tag = 'Replays';
const ofProject = z.strictObject({ projectId: uuid });
const ofJob = z.strictObject({ id: uuid });
/** How far a worker's clock may be ahead. Later dead letters are left out: they may be replays of this job that died again. */
const clockSkewMs = 5_000;

export const replayRoutes = [
  defineRoute({
    method: 'post',
    path: '/api/v1/projects/{projectId}/replays',
    name: 'createReplay',
    summary: 'Replay many deliveries as a job: dead letters by filter or id, or what came for one endpoint',
    tag,
    role: 'operator',
    params: ofProject,
    names: { projectId: 'project' },
    body: replayRequest,
    example: { filter: { state: 'dead_lettered' }, ratePerSecond: 50 },
    statusCode: 202,
    answer: replayAnswer,
    handle: async ({ pool, actions, requestedBy, now }, { params: { projectId }, body }) => {
      const selection = await selectionOf(pool, projectId, body, now());
      if (selection.kind === 'refused') return selection;
      if (body.dryRun === true) {
        return mapReply(await countReplay(pool, selection.value), ({ count, capped }) => ({ count, capped }));
      }
      const { ratePerSecond = 50 } = body;
      const input = { selection: selection.value, ratePerSecond, requestedBy, now: now() };
      return mapReply(await createReplayJob(actions, input), ({ job }) => ({
        jobId: job.id,
        count: job.count,
        capped: job.countCapped,
      }));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}/replay-jobs',
    name: 'listReplayJobs',
    summary: 'The replay jobs of a project, running and ended, the newest first',
    tag,
    role: 'viewer',
    params: ofProject,
    names: { projectId: 'project' },
    query: z.strictObject(pageQuery),
    statusCode: 200,
    answer: pageOf(replayJob).meta({ id: 'ReplayJobPage' }),
    handle: async ({ pool }, { params: { projectId }, query }) => {
      const page = await readPage(
        { list: 'replay-jobs', projectId },
        query,
        (request) => readReplayJobPage(pool, projectId, request),
        byCreation,
      );
      return mapItems(page, shown);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/v1/replay-jobs/{id}',
    name: 'getReplayJob',
    summary: 'The progress of a replay job, and the states of its replays',
    tag,
    role: 'viewer',
    params: ofJob,
    names: { id: 'replay_job' },
    statusCode: 200,
    answer: replayJobProgress,
    handle: async ({ pool }, { params: { id } }) => {
      const job = (await readReplayJob(pool, id)) as ReplayJob;
      return reply({ ...shown(job), states: await countReplaysOfJob(pool, id) });
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/v1/replay-jobs/{id}/cancel',
    name: 'cancelReplayJob',
    summary: 'End a running replay job: it replays nothing more',
    tag,
    role: 'operator',
    params: ofJob,
    names: { id: 'replay_job' },
    body: z.strictObject({}),
    statusCode: 200,
    answer: replayJob,
    handle: async ({ actions }, { params: { id } }) => mapReply(await cancelReplayJob(actions, id), shown),
  }),
];

/** A thousand ids are too many for an answer. */
function shown({ selection, ...job }: ReplayJob) {
  const { kind } = selection;
  return {
    ...job,
    selection: kind === 'dead_letter_ids' ? { kind, ids: selection.ids.length } : { ...selection },
  };
}

async function selectionOf(
  pool: pg.Pool,
  projectId: string,
  { filter, ids, endpointId, missing = false, since, until }: z.output<typeof replayRequest>,
  now: number,
): Promise<Reply<ReplaySelection>> {
  if (ids !== undefined) return selectionOfIds(pool, projectId, ids);
  const named = filter?.endpointId ?? endpointId;
  const refused = await refuseOtherEndpoints(pool, projectId, named === undefined ? [] : [named]);
  if (refused) return refused;
  if (filter !== undefined) {
    const period = { since: filter.since, until: filter.until ?? now + clockSkewMs };
    return reply({ kind: 'dead_letters', projectId, endpointId: filter.endpointId, ...period });
  }
  const end = until ?? now;
  if (endpointId === undefined || since === undefined || since >= end) {
    return refuse(400, 'request.invalid', 'body.since: the period is empty');
  }
  return reply({ kind: 'webhooks', endpointId, since, until: end, missing });
}

async function selectionOfIds(
  pool: pg.Pool,
  projectId: string,
  given: readonly string[],
): Promise<{ kind: 'done'; value: ReplaySelection } | ApiRefusal> {
  const { replayable, problems } = await sortDeadLetters(pool, given, projectId);
  const [first] = problems;
  if (!first) return { kind: 'done', value: { kind: 'dead_letter_ids', ids: replayable } };
  const message = `${first.id} cannot be replayed: ${first.why}`;
  return first.isUnknown
    ? refuse(404, 'dead_letter.not_found', message)
    : refuse(409, 'dead_letter.not_replayable', message);
}

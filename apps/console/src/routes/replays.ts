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
import { isUuidv7 } from '@hqrelay/domain/ids';
import { readWebhookIdsOf } from '@hqrelay/db/queries/webhooks';
import { refuseOtherEndpoints } from '../api/find-named.ts';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute, refuse, reply, type ApiRefusal, type Reply } from '../api/route.ts';
import { pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { periodDefaultMs, refusePayloadSearch } from './webhooks.ts';
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
    summary: 'Replay many deliveries as a job: webhooks by a filter or by ids, or what came for one endpoint',
    tag,
    role: 'operator',
    params: ofProject,
    names: { projectId: 'project' },
    body: replayRequest,
    example: { filter: { state: 'dead_lettered' }, ratePerSecond: 50 },
    statusCode: 202,
    answer: replayAnswer,
    handle: async ({ pool, actions, requestedBy, now, caller }, { params: { projectId }, body }) => {
      const refused = refusePayloadSearch(caller, body.filter ?? {});
      if (refused) return refused;
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
  const isByIds = selection.kind === 'dead_letter_ids' || selection.kind === 'webhook_ids';
  return { ...job, selection: isByIds ? { ...selection, ids: selection.ids.length } : { ...selection } };
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
  if (filter !== undefined) return reply(selectionOfFilter(projectId, filter, now));
  const end = until ?? now;
  if (endpointId === undefined || since === undefined || since >= end) {
    return refuse(400, 'request.invalid', 'body.since: the period is empty');
  }
  return reply({ kind: 'webhooks', endpointId, since, until: end, missing });
}

/** All dead letters of a project or an endpoint are read from their own table, however old their webhooks are. */
function selectionOfFilter(
  projectId: string,
  filter: NonNullable<z.output<typeof replayRequest>['filter']>,
  now: number,
): ReplaySelection {
  const { deadSince, deadUntil, ...ofWebhooks } = filter;
  const { state, endpointId, ...others } = ofWebhooks;
  if (state === 'dead_lettered' && Object.values(others).every((value) => value === undefined)) {
    const until = Math.min(deadUntil ?? Infinity, now + clockSkewMs);
    return { kind: 'dead_letters', projectId, endpointId, since: deadSince, until };
  }
  const until = filter.until ?? now;
  const since = filter.since ?? until - periodDefaultMs;
  return { kind: 'filtered_webhooks', filter: { projectId, ...ofWebhooks, since, until } };
}

async function selectionOfIds(
  pool: pg.Pool,
  projectId: string,
  given: readonly string[],
): Promise<{ kind: 'done'; value: ReplaySelection } | ApiRefusal> {
  const webhooks = given.filter(isUuidv7);
  if (webhooks.length > 0 && webhooks.length < given.length) {
    return refuse(400, 'request.invalid', 'body.ids: give ids of webhooks or of dead letters, not both');
  }
  if (webhooks.length > 0) return selectionOfWebhooks(pool, projectId, webhooks);
  const { replayable, problems } = await sortDeadLetters(pool, given, projectId);
  const [first] = problems;
  if (!first) return { kind: 'done', value: { kind: 'dead_letter_ids', ids: replayable } };
  const message = `${first.id} cannot be replayed: ${first.why}`;
  return first.isUnknown
    ? refuse(404, 'dead_letter.not_found', message)
    : refuse(409, 'dead_letter.not_replayable', message);
}

async function selectionOfWebhooks(
  pool: pg.Pool,
  projectId: string,
  ids: readonly string[],
): Promise<{ kind: 'done'; value: ReplaySelection } | ApiRefusal> {
  const known = new Set(await readWebhookIdsOf(pool, projectId, ids));
  const unknown = ids.find((each) => !known.has(each));
  if (unknown === undefined) return { kind: 'done', value: { kind: 'webhook_ids', projectId, ids } };
  return refuse(404, 'webhook.not_found', `there is no webhook ${unknown}`);
}

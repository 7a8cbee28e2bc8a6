import { z } from 'zod';
import { id, moment, time, uuid } from './fields.ts';
import { filterQuery } from './webhook-filter.ts';

const period = {
  since: moment.optional(),
  until: moment.optional().describe('Now when not given.'),
};

/** Whether a period of deaths, where there is one, stands beside conditions that the dead letters themselves have. */
function isOfDeadLetters(filter: Readonly<Record<string, unknown>>): boolean {
  const { deadSince, deadUntil, state, endpointId: _, ...others } = filter;
  if (deadSince === undefined && deadUntil === undefined) return true;
  return state === 'dead_lettered' && Object.values(others).every((value) => value === undefined);
}

/** Exactly one of `filter`, `ids` and `endpointId` says what is replayed. */
export const replayRequest = z
  .strictObject({
    filter: z
      .strictObject({
        ...filterQuery,
        minAttempts: z.int().min(1).max(1_000).optional(),
        deadSince: moment.optional().describe('Died then or later, as the list of dead letters has it.'),
        deadUntil: moment.optional().describe('Died before.'),
      })
      .refine((filter) => Object.keys(filter).length > 0, { error: 'give at least one condition' })
      .refine(isOfDeadLetters, {
        error: 'deadSince and deadUntil go with state dead_lettered and endpointId alone',
      })
      .optional()
      .describe(
        'The filter of the list of webhooks. It takes the deliveries that its conditions about a delivery match, or all that the ' +
          'webhooks owe where it has none; a dead letter that was replayed is left out.',
      ),
    ids: z
      .array(uuid)
      .min(1)
      .max(1_000)
      .optional()
      .describe('Webhooks by their ids, or dead letters by theirs; not both.'),
    endpointId: uuid
      .optional()
      .describe('All webhooks of the period that the event filter of this endpoint takes.'),
    missing: z.boolean().optional().describe('Of these only what the endpoint has not got.'),
    ...period,
    dryRun: z.boolean().optional().describe('Count, and change nothing.'),
    ratePerSecond: z.int().min(1).max(2_000).optional().describe('50 when not given.'),
  })
  .refine(
    ({ filter, ids, endpointId }) =>
      [filter, ids, endpointId].filter((given) => given !== undefined).length === 1,
    { error: 'give exactly one of filter, ids and endpointId' },
  )
  .refine(
    ({ endpointId, since, until, missing }) =>
      (endpointId !== undefined) === (since !== undefined) &&
      (endpointId !== undefined || (until === undefined && missing === undefined)),
    { error: 'endpointId takes since, and since, until and missing belong to endpointId' },
  );

export const replayAnswer = z
  .object({
    jobId: id.optional().describe('Absent for a dry run.'),
    count: z.int(),
    capped: z.boolean().describe('There are at least so many.'),
  })
  .meta({ id: 'ReplayAnswer' });

export const replayJob = z
  .object({
    id,
    projectId: id.nullable(),
    selection: z.record(z.string(), z.unknown()).describe('What it replays; times in ms since the epoch.'),
    ratePerSecond: z.int(),
    requestedBy: z.string(),
    state: z.enum(['running', 'finished', 'cancelled']),
    count: z.int(),
    countCapped: z.boolean(),
    replayed: z.int(),
    notReplayed: z
      .record(z.string(), z.int().optional())
      .describe('How many could not be replayed, by reason.'),
    createdAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'ReplayJob' });

export const replayJobProgress = replayJob
  .extend({
    states: z.record(z.string(), z.int().optional()).describe('How many replays are in which state.'),
  })
  .meta({ id: 'ReplayJobProgress' });

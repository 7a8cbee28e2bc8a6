import { statisticsSteps } from '@hqrelay/db/queries/statistics-steps';
import { webhookStatuses } from '@hqrelay/db/queries/webhooks';
import { z } from 'zod';
import { id, moment, time, uuid } from './fields.ts';

export const statisticsQuery = z.strictObject({
  since: moment
    .optional()
    .describe('A day before `until` when not given. The first step is the one that it lies in.'),
  until: moment.optional().describe('Now when not given.'),
  step: z
    .enum(statisticsSteps)
    .default('1h')
    .describe(
      '1m, 5m and 10m are counted from rows, of at most 24 hours. Days and weeks are those of the time zone.',
    ),
  timeZone: z.string().min(1).max(64).default('UTC').describe('A name such as Asia/Kolkata.'),
  endpointId: uuid.optional().describe('The attempts of one endpoint.'),
  groupBy: z.enum(['endpoint']).optional().describe('A series for each endpoint that had attempts.'),
});

const percentiles = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .meta({ id: 'Percentiles', description: 'In ms, within 5 %.' });

const point = z
  .object({
    at: time.describe('The start of the step.'),
    received: z
      .record(z.enum(webhookStatuses), z.int())
      .nullable()
      .describe(
        'Requests by the status of their webhook. Null where the attempts of an endpoint are counted.',
      ),
    delivered: z.int().describe('Attempts that delivered.'),
    failed: z.int().describe('Attempts that failed and are retried.'),
    deadLettered: z.int().describe('Attempts that failed last.'),
    attemptMs: percentiles.nullable().describe('How long attempts took. Null where there is none.'),
    endToEndMs: percentiles
      .nullable()
      .describe('From the receipt of a webhook to its delivery, without replays. Null where there is none.'),
  })
  .meta({ id: 'StatisticsPoint' });

export const statistics = z
  .object({
    since: time.describe('The start of the first step.'),
    until: time.describe('The end of the last step.'),
    step: z.enum(statisticsSteps),
    timeZone: z.string(),
    asOf: time.describe('What was received and attempted until then is counted. Later steps have no point.'),
    countedFrom: time
      .nullable()
      .describe(
        'Earlier rows are not counted yet, and their steps have no point. Null when all are counted.',
      ),
    series: z.array(
      z.object({
        endpointId: id.nullable(),
        points: z.array(point).describe('One for each step, also where nothing came.'),
      }),
    ),
    seriesOmitted: z.int().describe('Endpoints with fewer attempts, beyond those of the series.'),
  })
  .meta({ id: 'Statistics', description: 'Counts of a period, step by step.' });

export const sparkline = z
  .object({
    since: time.describe('The start of the first hour.'),
    asOf: time,
    received: z.array(z.int()).describe('Requests of each hour.'),
    rejected: z.array(z.int()).describe('Those of them that were not accepted.'),
    delivered: z.array(z.int()).describe('Attempts that delivered.'),
    failed: z.array(z.int()).describe('Attempts that failed, the last of a schedule too.'),
  })
  .meta({ id: 'Sparkline', description: 'The last 24 hours of a project, hour by hour.' });

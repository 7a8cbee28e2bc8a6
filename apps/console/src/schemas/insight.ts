import { findingKinds, severities } from '@hqrelay/domain/insights/finding';
import { z } from 'zod';
import { id, moment, queryFlag, time } from './fields.ts';

export const insightsQuery = z.strictObject({
  since: moment.optional().describe('A day before `until` when not given; at most 31 days before it.'),
  until: moment.optional().describe('Now when not given.'),
  summary: queryFlag.optional().describe('false: the findings alone, at once, without asking a model.'),
});

const finding = z
  .object({
    id: z.string().describe('The same for as long as the same thing is found of the same subject.'),
    kind: z.enum(findingKinds),
    severity: z.enum(severities),
    text: z.string().describe('Plain text.'),
    counts: z.record(z.string(), z.number()),
    since: time,
    until: time,
    exampleIds: z.array(id).describe('Webhooks.'),
    sql: z.string().describe('Returns the examples, and more of their kind, to `hqrelay_reader`.'),
  })
  .meta({ id: 'Finding', description: 'A fact that a person should know, with its evidence.' });

const statement = z
  .object({
    text: z.string().describe('Plain text that a model wrote. Show it as text, never as markup.'),
    findingIds: z.array(z.string()),
  })
  .meta({ id: 'Statement' });

export const insights = z
  .object({
    since: time.describe('The start of a half hour.'),
    until: time,
    findings: z.array(finding).describe('The gravest first.'),
    summary: z
      .string()
      .nullable()
      .describe(
        'Plain text of a model, a line for each statement with the ids of its findings. Null without a model.',
      ),
    causes: z.array(statement).describe('Likely causes, the likeliest first.'),
    nextSteps: z.array(statement).describe('What to try, the most useful first.'),
    note: z
      .string()
      .nullable()
      .describe('Why there is no summary; null where there is one, or none was asked for.'),
  })
  .meta({ id: 'Insights', description: 'What is noteworthy about a project in a period.' });

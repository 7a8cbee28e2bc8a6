import { alertChannels, alertKinds, alertTypes } from '@hqrelay/domain/alerts/alert-kind';
import { z } from 'zod';
import { id, moment, time } from './fields.ts';

export const alert = z
  .object({
    id,
    projectId: id,
    on: z.array(z.enum(alertKinds)),
    channel: z.enum(alertChannels),
    target: z.string().describe('The address, or the URL without its secrets.'),
    windowSeconds: z.int().describe('At most one message for a kind and an endpoint in this time.'),
    snoozedUntil: time.nullable(),
    isBroken: z.boolean().describe('Whether the last three tries to send failed.'),
    failingSince: time.nullable(),
    lastError: z.string().nullable(),
    lastSentAt: time.nullable().describe('When the mail server answered 250, or the URL a 2xx.'),
    createdAt: time,
  })
  .meta({ id: 'Alert', description: 'A rule: what a project is told, and where.' });

const on = z.array(z.enum(alertKinds)).min(1).max(alertKinds.length);
const windowSeconds = z.int().min(60).max(86_400).optional().describe('900 when not given.');
const url = z.string().min(1).max(2_048).optional();

const addresses = {
  email: z.string().min(1).max(254).optional().describe('One of email, webhook and slack.'),
  webhook: url.describe('A URL that gets signed callbacks.'),
  slack: url.describe('An incoming webhook of Slack; its URL is stored encrypted.'),
};
type Addresses = { email?: string | undefined; webhook?: string | undefined; slack?: string | undefined };

/** The channel and the target that a body names; undefined where it names none or several. */
export function addressGiven({ email, webhook, slack }: Addresses) {
  const given = Object.entries({ email, webhook, slack }).flatMap(([channel, target]) =>
    target === undefined ? [] : [{ channel: channel as (typeof alertChannels)[number], target }],
  );
  return given.length === 1 ? given[0] : undefined;
}

export const newAlert = z
  .strictObject({ on, ...addresses, windowSeconds })
  .refine((body) => addressGiven(body) !== undefined, {
    error: 'give exactly one of email, webhook and slack',
  });

export const addedAlert = z
  .object({
    alert,
    signingSecret: z.string().optional().describe('Of a webhook. Shown this once only.'),
  })
  .meta({ id: 'AddedAlert' });

export const alertChanges = z
  .strictObject({ on: on.optional(), ...addresses, windowSeconds })
  .refine((changes) => Object.keys(changes).length > 0, { error: 'give at least one setting to change' })
  .refine(({ email, webhook, slack }) => [email, webhook, slack].filter(Boolean).length < 2, {
    error: 'give one of email, webhook and slack: a rule has one channel',
  });

export const snooze = z.strictObject({
  until: moment.nullable().describe('Nothing is sent before; null ends the snooze.'),
});

export const testedAlert = z
  .object({ messageId: id.describe('Its attempts are in the list of messages.') })
  .meta({ id: 'TestedAlert' });

export const alertMessage = z
  .object({
    id: id.describe('Also the webhook-id of a callback.'),
    alertId: id,
    type: z.enum(alertTypes),
    state: z.enum(['firing', 'recovered']),
    isReminder: z.boolean(),
    endpointId: id.nullable(),
    count: z.int(),
    reason: z.string(),
    firstAt: time.nullable(),
    lastAt: time.nullable(),
    firstExampleId: id.nullable().describe('A webhook.'),
    lastExampleId: id.nullable().describe('A webhook.'),
    url: z.string().describe('The page of the console about it.'),
    createdAt: time,
    status: z
      .enum(['waiting', 'sent', 'not_sent'])
      .describe('not_sent: given up after a week, or its rule was removed first.'),
    attempts: z
      .array(
        z.object({
          attemptNum: z.int(),
          status: z.enum(['sent', 'failed']),
          answer: z.string(),
          latencyMs: z.int(),
          attemptedAt: time,
        }),
      )
      .describe('The latest 20, the newest first.'),
  })
  .meta({ id: 'AlertMessage' });

import { replayWebhook } from '@hqrelay/actions/replay/replay-webhook';
import {
  readWebhook,
  readWebhookDetails,
  readWebhookPayload,
  type Webhook,
  type WebhookDetails,
} from '@hqrelay/db/queries/webhooks';
import { timeOfId } from '@hqrelay/domain/ids';
import { redactQuery, redactUrl } from '@hqrelay/domain/secrets/redaction';
import { z } from 'zod';
import { refuseOtherEndpoints } from '../api/find-named.ts';
import { defineRoute, refuse, reply } from '../api/route.ts';
import { id, queryInteger, uuid } from '../schemas/fields.ts';
import { webhookDetails } from '../schemas/webhook.ts';
import { findVerifyingSecret } from '../verification/find-verifying-secret.ts';
import { mapReply } from './map-reply.ts';

const tag = 'Webhooks';
const params = z.strictObject({ id: uuid });
const names = { id: 'webhook' } as const;
const path = '/api/v1/webhooks/{id}';

const replayed = z
  .object({
    jobId: id.nullable().describe('The job of several replays.'),
    count: z.int(),
    replays: z.array(z.object({ replayId: id, deliveryId: id, endpointId: id })),
  })
  .meta({ id: 'ReplayedWebhook' });

export const oneWebhookRoutes = [
  defineRoute({
    method: 'get',
    path,
    name: 'getWebhook',
    summary: 'A webhook with its request, its deliveries and their attempts',
    tag,
    role: 'viewer',
    params,
    names,
    statusCode: 200,
    answer: webhookDetails,
    handle: async (context, input) => {
      const { pool, caller } = context;
      const webhookLogId = input.params.id;
      const period = { id: webhookLogId, receivedAt: timeOfId(webhookLogId) };
      const details = (await readWebhookDetails(pool, { ...period, bodyBytesMax: 0 })) as WebhookDetails;
      const verifiedWith = await findVerifyingSecret(context, details);
      return reply({ ...shownDetails(details, caller.hidePayloads), verifiedWith });
    },
  }),
  defineRoute({
    method: 'get',
    path: `${path}/payload`,
    name: 'getPayload',
    summary: 'The bytes of a webhook as they came in, all or the first',
    tag,
    role: 'viewer',
    params,
    names,
    query: z.strictObject({
      bytesMax: queryInteger(1, 1_048_576).optional().describe('The first bytes only, at most so many.'),
    }),
    statusCode: 200,
    answer: 'attachment',
    handle: async ({ pool, caller }, { params: { id: webhookLogId }, query: { bytesMax } }) => {
      if (caller.hidePayloads) return refuse(403, 'access.hides_payloads', 'payloads are hidden from you');
      const period = { id: webhookLogId, receivedAt: timeOfId(webhookLogId) };
      const stored = await readWebhookPayload(pool, { ...period, bytesMax });
      if (stored === null) {
        return refuse(
          404,
          'payload.not_found',
          'the payload of this webhook was never stored, or was dropped',
        );
      }
      const { bytes, payloadBytes } = stored;
      const name = bytes.length < payloadBytes ? `${webhookLogId}.head.bin` : `${webhookLogId}.bin`;
      return reply({ name, bytes, wholeBytes: payloadBytes });
    },
  }),
  defineRoute({
    method: 'post',
    path: `${path}/replay`,
    name: 'replayWebhook',
    summary: 'Send a webhook again, to the endpoints that it is owed to, or to those named',
    tag,
    role: 'operator',
    params,
    names,
    body: z.strictObject({ endpointIds: z.array(uuid).min(1).max(100).optional() }),
    statusCode: 202,
    answer: replayed,
    handle: async ({ pool, actions, requestedBy, now }, { params: { id: webhookLogId }, body }) => {
      const { endpointIds } = body;
      const period = { id: webhookLogId, receivedAt: timeOfId(webhookLogId) };
      const { projectId } = (await readWebhook(pool, period)) as Webhook;
      const refused = await refuseOtherEndpoints(pool, projectId, endpointIds ?? []);
      if (refused) return refused;
      const input = { webhookLogId, endpointIds, requestedBy, now: now() };
      return mapReply(await replayWebhook(actions, input), ({ jobId, replays }) => ({
        jobId,
        count: replays.length,
        replays: replays.map(({ replay, endpoint }) => ({
          replayId: replay.replayId,
          deliveryId: replay.deliveryId,
          endpointId: endpoint.id,
        })),
      }));
    },
  }),
];

function shownDetails(
  details: WebhookDetails,
  hidePayloads: boolean,
): Omit<z.input<typeof webhookDetails>, 'verifiedWith'> {
  const { webhook, payload, deliveries, attempts, replays } = details;
  const withShownUrl = <Row extends { url: string | null }>(row: Row): Row => ({
    ...row,
    url: row.url === null ? null : redactUrl(row.url),
  });
  return {
    webhook,
    request:
      payload === null || hidePayloads
        ? null
        : { headers: payload.headers, query: redactQuery(payload.query), payloadBytes: payload.bytes },
    deliveries: deliveries.map(withShownUrl),
    attempts: attempts.map((row) => (hidePayloads ? { ...row, responseBody: null } : row)),
    replays: replays.map(withShownUrl),
  };
}

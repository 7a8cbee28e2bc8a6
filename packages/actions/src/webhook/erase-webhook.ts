import { inTransaction } from '@hqrelay/db/in-transaction';
import {
  countRecordedAnswers,
  eraseWebhook as erase,
  readErasure,
  type Erased,
} from '@hqrelay/db/queries/erase-webhook';
import { readWebhook, type Webhook } from '@hqrelay/db/queries/webhooks';
import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Refusal } from '../action.ts';
import { recordChange } from '../record-change.ts';

export type ErasedWebhook = {
  id: string;
  payloadErased: boolean;
  /** Deliveries that were held, and are dead letters now. */
  heldDeliveries: number;
  outboxMessages: number;
  deadLetterContents: number;
  /** Attempts that keep what an endpoint answered: the table is append-only. */
  answersKept: number;
};

/**
 * Erases the payload and the headers of a webhook on a person's request; its rows in the audit tables stay. Refused while a
 * delivery of it has a message in the broker, from which nothing can be removed.
 */
export async function eraseWebhook(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  { webhookLogId: id, reason }: { webhookLogId: string; reason: string },
): Promise<ActionResult<ErasedWebhook>> {
  const receivedAt = timeOfId(id);
  const webhook = await readWebhook(pool, { id, receivedAt });
  if (!webhook)
    return refused('webhook.not_found', `there is no webhook ${id}; its row can be a moment late`);
  const answersKept = await countRecordedAnswers(pool, { id, receivedAt });
  const erased = await inTransaction(pool, async (client) => {
    const counts = await erase(client, id, reason);
    if (counts.waiting > 0 || isNothing(counts)) return counts;
    const { payloads, held, messages, contents } = counts;
    const after = {
      reason,
      payloads,
      heldDeliveries: held,
      outboxMessages: messages,
      deadLetterContents: contents,
    };
    const { projectId } = webhook;
    await recordChange(client, actor, {
      action: 'webhook.erase',
      projectId,
      target: id,
      before: null,
      after,
    });
    return counts;
  });
  if (erased.waiting > 0 || isNothing(erased)) return whyNotErased(pool, webhook, erased);
  return done(
    {
      id,
      payloadErased: erased.payloads > 0,
      heldDeliveries: erased.held,
      outboxMessages: erased.messages,
      deadLetterContents: erased.contents,
      answersKept,
    },
    answersKept > 0
      ? [
          `${answersKept} attempts keep up to 4 KiB of what an endpoint answered (delivery_attempts is append-only)`,
        ]
      : [],
  );
}

async function whyNotErased(pool: pg.Pool, webhook: Webhook, { waiting }: Erased): Promise<Refusal> {
  const { id, status, duplicateOf } = webhook;
  if (waiting > 0) {
    return refused(
      'webhook.waiting',
      `${waiting} deliveries of the webhook ${id} wait in RabbitMQ, from which nothing can be removed: nothing was ` +
        'erased; erase it when they have ended, or pause their endpoints and erase it when they are held',
    );
  }
  const erasure = await readErasure(pool, id);
  const first = duplicateOf === null ? '' : `; it came after ${duplicateOf}, which may have one`;
  const why = erasure
    ? `was erased at ${erasure.erasedAt.toISOString()} by ${erasure.actor}`
    : `(${status}) has no payload${first}`;
  return refused('webhook.not_erasable', `the webhook ${id} ${why}`);
}

function isNothing({ payloads, held, messages, contents }: Erased): boolean {
  return payloads + held + messages + contents === 0;
}

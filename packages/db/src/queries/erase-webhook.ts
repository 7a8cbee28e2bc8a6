import type pg from 'pg';
import type { Queryable } from '../queryable.ts';

export type Erased = {
  /** Deliveries with a message in the broker: while there is one, nothing is erased. */
  waiting: number;
  payloads: number;
  held: number;
  /** In the outbox. */
  messages: number;
  /** Bytes of dead letters. */
  contents: number;
};

/** Erases what is stored of a webhook's payload, in the transaction of `client`. Throws when there is no such webhook. */
export async function eraseWebhook(client: pg.PoolClient, id: string, reason: string): Promise<Erased> {
  const { rows } = await client.query<Erased>(
    `select waiting, coalesce(payloads, 0) as payloads, coalesce(held, 0) as held, coalesce(messages, 0) as messages,
       coalesce(contents, 0) as contents from hqrelay_erase_webhook($1, $2)`,
    [id, reason],
  );
  return rows[0] as Erased;
}

export type Erasure = { erasedAt: Date; actor: string };

/** When the payload of a webhook was erased; undefined when it was not. */
export async function readErasure(client: Queryable, id: string): Promise<Erasure | undefined> {
  const { rows } = await client.query<Erasure>(
    `select created_at as "erasedAt", actor from admin_log where target = $1 and action = 'webhook.erase' order by id limit 1`,
    [id],
  );
  return rows[0];
}

/** How many attempts of a webhook have an answer of an endpoint recorded. */
export async function countRecordedAnswers(
  client: Queryable,
  { id, receivedAt }: { id: string; receivedAt: number },
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from delivery_attempts
     where webhook_log_id = $1 and attempted_at >= $2::timestamptz - interval '1 hour' and response_body <> ''`,
    [id, new Date(receivedAt)],
  );
  return rows[0]?.count ?? 0;
}

import { timeOfId } from '@hqrelay/domain/ids';
import type { Queryable } from '../queryable.ts';

/** Larger requests are not compared with answers. */
const payloadBytesMax = 65_536;

/** The headers, query and payload of webhooks as text, by id; those that are not stored, or larger than 64 KiB, are left out. */
export async function readRequestTexts(
  client: Queryable,
  webhookIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await client.query<{
    id: string;
    headers: [string, string][];
    query: string;
    payload: Buffer;
  }>(
    `select p.id, p.headers, p.query, p.payload from unnest($1::uuid[], $2::timestamptz[]) as w (id, received_at)
     join webhook_payloads p on p.id = w.id and p.received_at = w.received_at
     where octet_length(p.payload) <= ${payloadBytesMax}`,
    [webhookIds, webhookIds.map((id) => new Date(timeOfId(id)).toISOString())],
  );
  return new Map(
    rows.map(({ id, headers, query, payload }) => [
      id,
      `${headers.join('\n')}\n${query}\n${payload.toString()}`,
    ]),
  );
}

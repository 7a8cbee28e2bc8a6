import type { WebhookFilter } from './webhook-filter.ts';

/** Which deliveries a replay job is about. Times in ms since the epoch. */
export type ReplaySelection =
  /** Dead letters of deliveries by their ids. */
  | { kind: 'dead_letter_ids'; ids: readonly string[] }
  /** All dead letters of deliveries that died in a period. */
  | {
      kind: 'dead_letters';
      projectId?: string | undefined;
      endpointId?: string | undefined;
      since?: number | undefined;
      until: number;
    }
  /**
   * The webhooks that a filter lists: the deliveries that its conditions about a delivery take, to every endpoint that is owed
   * where it has none. A dead letter that was replayed is left out.
   */
  | { kind: 'filtered_webhooks'; filter: WebhookFilter }
  /** Webhooks of one project by their ids, each to the endpoints that it owes. */
  | { kind: 'webhook_ids'; projectId: string; ids: readonly string[] }
  /**
   * The webhooks of a period that the endpoint's event filter takes: all of them, or those `missing` at the endpoint, also
   * when it was never owed them. What is delivered, waiting, held or being replayed is not missing.
   */
  | { kind: 'webhooks'; endpointId: string; since: number; until: number; missing: boolean };

/** The selection of a job that was finished when it was created: one webhook, to these endpoints. No worker runs it. */
export type ReplayedWebhook = { kind: 'webhook'; webhookLogId: string; endpointIds: readonly string[] };

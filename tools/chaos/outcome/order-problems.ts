import type { SentWebhook } from '../../harness/load.ts';
import type { Endpoint } from '../endpoint.ts';

export type ArrivedInput = {
  webhooks: readonly SentWebhook[];
  /** The endpoints that each project's webhooks owe. */
  owedBy: ReadonlyMap<string, readonly string[]>;
  endpoints: ReadonlyMap<string, Pick<Endpoint, 'name' | 'arrivals'>>;
};

/** The arrivals at the ordered endpoint after one of a webhook of their key that was sent after the 202 of their own. */
export function orderProblems({ webhooks, owedBy, endpoints }: ArrivedInput): string[] {
  const late: string[] = [];
  for (const [endpointId, { name, arrivals }] of endpoints) {
    if (name !== 'ordered') continue;
    const sent = webhooks.filter(({ projectId }) => owedBy.get(projectId)?.includes(endpointId));
    const arrived = sent.flatMap((webhook) =>
      [...webhook.ids].flatMap((id) => (arrivals.get(id) ?? []).map(({ at }) => ({ webhook, id, at }))),
    );
    const lastSent = new Map<string, number>();
    for (const { webhook, id } of arrived.toSorted((a, b) => a.at - b.at)) {
      const { orderKey, sentAt, acceptedAt = Infinity } = webhook;
      const last = lastSent.get(orderKey) ?? -Infinity;
      if (acceptedAt < last) late.push(`${id} of ${orderKey}`);
      lastSent.set(orderKey, Math.max(last, sentAt));
    }
  }
  return late[0] === undefined
    ? []
    : [`${late.length} deliveries arrived after a later one of their key, such as ${late[0]}`];
}

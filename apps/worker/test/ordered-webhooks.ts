import { appendAudit } from '@hqrelay/db/queries/append-audit';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import type { WorkerWorld } from './worker-world.ts';

export type Accepted = { id: string; deliveryId: string; message: Buffer };

/** Accepts webhooks of an ordered endpoint as a receiver does: the row is committed, then the message is published. */
export function acceptingAt(world: WorkerWorld, projectId: string, endpointId: string) {
  const draft = (
    key: string,
  ): Accepted & { record: (isEarly?: boolean, acceptedAtUs?: number) => Promise<void> } => {
    const id = freshId();
    const delivery = { deliveryId: deliveryId(id, endpointId), endpointId, key };
    const body = Buffer.from(JSON.stringify({ id, key }));
    return {
      id,
      deliveryId: delivery.deliveryId,
      message: world.message(
        projectId,
        { id, endpointIds: [endpointId], orderingKeys: { [endpointId]: key } },
        body,
      ),
      record: async (isEarly = false, acceptedAtUs = Date.now() * 1_000) => {
        const log = {
          id,
          projectId,
          webhookId: id,
          eventType: null,
          status: 'queued' as const,
          reason: null,
          endpointIds: [endpointId],
          duplicateOf: null,
          payloadSha256: null,
          payloadBytes: body.length,
          remoteAddr: null,
          correlationId: 'test',
        };
        const ordering = { deliveries: [delivery], acceptedAtUs, isEarly };
        const payload = { payload: body, headers: [], query: '' };
        await appendAudit(world.sql, [{ kind: 'webhook', log, payload, ordering }]);
      },
    };
  };
  return {
    draft,
    accept: async (key: string): Promise<Accepted> => {
      const webhook = draft(key);
      await webhook.record();
      await world.send(webhook.message);
      return webhook;
    },
  };
}

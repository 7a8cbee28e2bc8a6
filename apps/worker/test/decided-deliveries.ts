import type { ActionResult } from '@hqrelay/actions/action';
import { cancelDelivery } from '@hqrelay/actions/delivery/cancel-delivery';
import { retryDeliveryNow } from '@hqrelay/actions/delivery/retry-delivery-now';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { nextAttempts, seedWebhook } from './duplicate-messages.ts';
import type { WorkerWorld } from './worker-world.ts';

export const actor = 'cli:test' as const;

/** A delivery whose first attempt has failed, its endpoint, and the message of its second attempt, which a delay queue has. */
export async function seedWaiting(world: WorkerWorld, retry: string) {
  const seeded = await seedWebhook(world, retry);
  const { id, projectId, endpointId, endpoint } = seeded;
  await recordWebhook(world.sql, { id, projectId, endpointIds: [endpointId] });
  endpoint.answerWith({ statusCode: 500 });
  await world.send(seeded.content);
  const [first] = await world.waitForAttempts(id, 1);
  await waitFor(
    'the follow-up',
    async () => nextAttempts(world, id).length > 0 || (await world.held()).length > 0,
  );
  const dueAt = first!.next_attempt_at!.getTime();
  return {
    ...seeded,
    deliveryId: deliveryId(id, endpointId),
    dueAt,
    delayed: seeded.attempt({ attemptNum: 2, lane: 'retry', notBefore: dueAt }),
  };
}

export function valueOf<T>(result: ActionResult<T>): T {
  if (result.kind === 'refused') throw new Error(`${result.code}: ${result.message}`);
  return result.value;
}

/** What a person decides about deliveries of a world. */
export function decidingIn(world: WorkerWorld) {
  const announceChange = (projectId: string) => world.forget(projectId);
  return {
    retryNow: (id: string, now = Date.now()) =>
      retryDeliveryNow({ pool: world.sql, actor }, { deliveryId: id, now }),
    cancel: (id: string) =>
      cancelDelivery({ pool: world.sql, actor, announceChange }, { deliveryId: id, now: Date.now() }),
    async stateOf(webhookLogId: string): Promise<{ state: string; attempts: number }> {
      const { rows } = await world.sql.query(
        'select state, attempts from delivery_status where webhook_log_id = $1',
        [webhookLogId],
      );
      return rows[0];
    },
  };
}

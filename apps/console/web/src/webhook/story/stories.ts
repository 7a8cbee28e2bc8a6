import type { Attempt, Delivery, WebhookDetails } from '../../api/entities.ts';

type Replay = WebhookDetails['replays'][number];
export type Story = { delivery: Delivery; attempts: Attempt[]; replay: Replay | undefined };

/** Each delivery with its attempts: those that the webhook owed, then its replays, unordered as they are, by when they were asked for. */
export function storiesOf({ deliveries, replays, attempts }: WebhookDetails): Story[] {
  const of = (delivery: Delivery, replay?: Replay): Story => ({
    delivery,
    replay,
    attempts: attempts.filter(({ deliveryId }) => deliveryId === delivery.deliveryId),
  });
  const inOrder = [...replays].sort((a, b) => a.requestedAt.localeCompare(b.requestedAt));
  return [
    ...deliveries.map((each) => of(each)),
    ...inOrder.map((each) => of({ ...each, order: null }, each)),
  ];
}

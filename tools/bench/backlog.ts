import { newId } from '@hqrelay/domain/ids';
import { connect, type ConfirmChannel } from 'amqplib';
import type { Pipeline } from './pipelines.ts';

const atOnce = 500;
const body = Buffer.from(
  JSON.stringify({ event: 'payment.captured', id: 'evt_000000000', padding: 'x'.repeat(925) }),
);
const headers: [string, string][] = [
  ['content-type', 'application/json'],
  ['x-webhook-id', 'evt_000000000'],
  ['x-hub-signature-256', `sha256=${'0'.repeat(64)}`],
];

/** Publishes webhooks straight to the queue of a pipeline's worker, as its receiver does, but without their rows. */
export async function fillBacklog({ world, work }: Pipeline, count: number): Promise<void> {
  const connection = await connect(world.rabbitmqUrl);
  const channel = await connection.createConfirmChannel();
  await work.prepare(channel);
  for (let sent = 0; sent < count; sent += atOnce) {
    for (let number = sent; number < Math.min(count, sent + atOnce); number += 1) publish(channel, work);
    await channel.waitForConfirms();
  }
  await connection.close();
}

function publish(channel: ConfirmChannel, work: Pipeline['work']): void {
  const message = work.encode({ id: newId(Date.now()), headers, body });
  channel.publish(work.exchange, work.routingKey, message, { persistent: true, mandatory: true });
}

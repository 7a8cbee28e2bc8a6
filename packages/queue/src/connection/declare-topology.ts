import { setTimeout as wait } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import { assertTopology, sizedWorkQueues } from '../topology.ts';

/**
 * A broker (3.10) that dies within about a second of declaring a quorum queue never finds that queue's log again, and loses
 * the messages that it had confirmed (rabbitmq-server#15725). So nothing is published to queues that are younger than this.
 */
const queueAgeMinMs = 2_000;

/** Declares the topology, and waits until its queues are safe to publish to. */
export async function declareTopology(model: ChannelModel): Promise<void> {
  const isNew = await lacksQueues(model);
  const channel = await model.createChannel();
  channel.on('error', () => {
    // An 'error' without a listener ends the process; the pending call rejects with the same error.
  });
  await assertTopology(channel);
  await channel.close();
  if (isNew) await wait(queueAgeMinMs);
}

async function lacksQueues(model: ChannelModel): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => {
    // The broker closes the channel on which a missing queue is checked; the check rejects with the same error.
  });
  try {
    for (const queue of sizedWorkQueues) await channel.checkQueue(queue);
    await channel.close();
    return false;
  } catch {
    // If not for a missing queue, the declaration that follows fails for the same reason and reports it.
    return true;
  }
}

import { Circuit } from '@hqrelay/flow/circuit';
import type { StoreHealth } from '@hqrelay/flow/store-health';
import type { BrokerConnection } from '../connection/broker-connection.ts';
import { circuitTimes, PublishChannel, type PublishResult } from './publish-channel.ts';
import { allQueues, queueOf, sizedRoutingKey } from '../topology.ts';

/** A message for a work queue names the queue; its size decides between the queue and its `.large` sibling. */
export type Publication = { exchange: string; routingKey: string; body: Buffer };

export type PublisherOptions = {
  name: string;
  connection: BrokerConnection;
  /** How long a confirm may take, ms. */
  confirmTimeoutMs: number;
  /** Unconfirmed messages of one queue; past it a publish fails at once instead of filling memory. */
  inFlightMax: number;
};

/**
 * Publishes to every queue on a channel of its own. The broker registers a channel with a quorum queue at the first publish,
 * and that blocks the whole channel for up to 30 s while the queue has no leader: on a shared channel one such queue would
 * stop publishing to all.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #channels = new Map<string, PublishChannel>();
  /** For queues that the topology does not name. */
  readonly #otherChannel: PublishChannel;
  /** So that an outage does not cost each queue a timeout of its own, and the first confirm on any channel ends it for all. */
  readonly #brokerCircuit = new Circuit(circuitTimes);
  /** The last confirm on any channel, ms since epoch. */
  #confirmedAt = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    for (const queue of allQueues) this.#channels.set(queue, this.#createChannel(queue));
    this.#otherChannel = this.#createChannel('other');
  }

  get health(): StoreHealth {
    return this.#options.connection.health;
  }

  /** Whether a publish to this queue is worth trying now. */
  mayPublishTo(queue: string): boolean {
    return this.health.isUp && this.#channelOf(queue).mayPublish(Date.now());
  }

  publish({ exchange, routingKey, body }: Publication): Promise<PublishResult> {
    if (this.health.state === 'blocked') {
      return Promise.resolve({ kind: 'failed', reason: 'blocked', maybeStored: false });
    }
    const sizedKey = sizedRoutingKey(routingKey, body.length);
    return this.#channelOf(queueOf(exchange, sizedKey)).publish(exchange, sizedKey, body);
  }

  #channelOf(queue: string): PublishChannel {
    return this.#channels.get(queue) ?? this.#otherChannel;
  }

  #createChannel(queue: string): PublishChannel {
    const { name, connection, confirmTimeoutMs, inFlightMax } = this.#options;
    const channel = new PublishChannel({
      name: `${name} ${queue}`,
      confirmTimeoutMs,
      inFlightMax,
      brokerCircuit: this.#brokerCircuit,
      onConfirm: (now) => (this.#confirmedAt = now),
      // When the broker has confirmed something since, the queue alone is silent.
      onTimeout: (publishedAt, now) => {
        if (this.#confirmedAt <= publishedAt) this.#brokerCircuit.failed(now);
      },
    });
    connection.use(channel);
    return channel;
  }
}

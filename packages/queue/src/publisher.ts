import { Circuit } from '@hqrelay/flow/circuit';
import type { StoreHealth } from '@hqrelay/flow/store-health';
import type { Channel, ChannelModel, ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import type { BrokerConnection, ChannelUser } from './connection.ts';
import { sizedRoutingKey } from './topology.ts';

export type PublishFailure =
  | 'disconnected'
  | 'blocked'
  | 'overloaded'
  | 'circuit_open'
  | 'timed_out'
  | 'returned'
  | 'nacked'
  | 'channel_closed';

export type PublishResult =
  | { kind: 'confirmed' }
  /** `maybeStored`: the broker may have it all the same, so another copy must be told apart downstream. */
  | { kind: 'failed'; reason: PublishFailure; maybeStored: boolean };

/** A message for a work queue names the queue; its size decides between the queue and its `.large` sibling. */
export type Publication = { exchange: string; routingKey: string; body: Buffer };

export type PublisherOptions = {
  name: string;
  connection: BrokerConnection;
  /** How long a confirm may take, ms. */
  confirmTimeoutMs: number;
  /** Unconfirmed messages at once; past it a publish fails at once instead of filling memory. */
  inFlightMax: number;
};

/**
 * Publishes persistent and mandatory and waits for the confirm. Never throws, never assumes: whatever is not confirmed
 * in time has failed. A confirm also comes for a message that no queue took, so what the broker returns has failed too.
 */
export class Publisher implements ChannelUser {
  readonly name: string;
  readonly #options: PublisherOptions;
  #channel: ConfirmChannel | undefined;
  readonly #returned = new Set<string>();
  readonly #pending = new Set<(result: PublishResult) => void>();
  #lastId = 0;
  /** Nothing has been confirmed on this channel yet. */
  #unproven = true;
  /** The last confirm, or the opening of the channel; ms since epoch. */
  #confirmedAt = Date.now();
  readonly #circuit = new Circuit({ firstOpenMs: 500, longestOpenMs: 5_000, trialMs: 5_000 });

  constructor(options: PublisherOptions) {
    this.name = options.name;
    this.#options = options;
    options.connection.use(this);
  }

  /**
   * `up` when a publish is worth trying now. A broker that has just started takes connections half a second before its
   * queues have a leader, and confirms nothing meanwhile: so at first one publish is the trial, and others need not wait with it.
   */
  get health(): StoreHealth {
    const { health } = this.#options.connection;
    if (!health.isUp) return health;
    if (!this.#channel) return this.#blocked('the channel is closed');
    if (this.#unproven && this.#pending.size > 0) return this.#blocked('nothing is confirmed yet');
    if (!this.#circuit.wouldAllow(Date.now())) return this.#blocked('confirms do not come in time');
    return health;
  }

  #blocked(detail: string): StoreHealth {
    return { state: 'blocked', detail, since: this.#confirmedAt, isUp: false };
  }

  async open(model: ChannelModel): Promise<Channel> {
    const channel = await model.createConfirmChannel();
    this.#returned.clear();
    channel.on('return', (message: AmqpMessage) => {
      this.#returned.add(String(message.properties.messageId));
    });
    this.#channel = channel;
    this.#unproven = true;
    this.#confirmedAt = Date.now();
    this.#circuit.succeeded();
    return channel;
  }

  lost(): void {
    this.#channel = undefined;
    for (const settle of this.#pending) {
      settle({ kind: 'failed', reason: 'channel_closed', maybeStored: true });
    }
    this.#pending.clear();
  }

  publish(publication: Publication): Promise<PublishResult> {
    const channel = this.#channel;
    const refusal = this.#refusal(channel);
    if (refusal !== undefined || channel === undefined) {
      return Promise.resolve({ kind: 'failed', reason: refusal ?? 'disconnected', maybeStored: false });
    }
    return new Promise((resolve) => {
      const settle = (result: PublishResult) => {
        clearTimeout(timer);
        this.#pending.delete(settle);
        resolve(result);
      };
      const timer = setTimeout(() => {
        this.#circuit.failed(Date.now());
        settle({ kind: 'failed', reason: 'timed_out', maybeStored: true });
      }, this.#options.confirmTimeoutMs);
      this.#pending.add(settle);
      const messageId = String((this.#lastId += 1));
      const confirmed = (error: unknown) => settle(this.#outcome(messageId, error));
      try {
        channel.publish(
          publication.exchange,
          sizedRoutingKey(publication.routingKey, publication.body.length),
          publication.body,
          { persistent: true, mandatory: true, messageId },
          confirmed,
        );
      } catch {
        settle({ kind: 'failed', reason: 'channel_closed', maybeStored: false });
      }
    });
  }

  #refusal(channel: ConfirmChannel | undefined): PublishFailure | undefined {
    if (!channel) return 'disconnected';
    if (this.#options.connection.health.state === 'blocked') return 'blocked';
    if (this.#pending.size >= this.#options.inFlightMax) return 'overloaded';
    if (!this.#circuit.allows(Date.now())) return 'circuit_open';
    return undefined;
  }

  /** A return always comes before the confirm of the same message. Must not throw: amqplib would drop the connection. */
  #outcome(messageId: string, error: unknown): PublishResult {
    const returned = this.#returned.delete(messageId);
    if (error) {
      const nacked = error instanceof Error && error.message === 'message nacked';
      return { kind: 'failed', reason: nacked ? 'nacked' : 'channel_closed', maybeStored: !nacked };
    }
    this.#circuit.succeeded();
    this.#unproven = false;
    this.#confirmedAt = Date.now();
    return returned ? { kind: 'failed', reason: 'returned', maybeStored: false } : { kind: 'confirmed' };
  }
}

import { Circuit } from '@hqrelay/flow/circuit';
import type { Channel, ChannelModel, ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import type { ChannelUser } from '../connection/broker-connection.ts';

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
  /** `maybeStored`: the broker may have the message all the same, so publishing it again may make a duplicate. */
  | { kind: 'failed'; reason: PublishFailure; maybeStored: boolean };

export type PublishChannelOptions = {
  name: string;
  confirmTimeoutMs: number;
  inFlightMax: number;
  onConfirm: (now: number) => void;
  onTimeout: (publishedAt: number, now: number) => void;
  /** Open while the broker confirms nothing on any channel. */
  brokerCircuit: Circuit;
};

export const circuitTimes = { firstOpenMs: 500, longestOpenMs: 5_000, trialMs: 5_000 };

/**
 * Publishes persistent and mandatory and waits for the confirm. Never throws: a message that is not confirmed in time has
 * failed. A confirm also comes for a message that no queue took, so a message that the broker returns has failed too.
 */
export class PublishChannel implements ChannelUser {
  readonly name: string;
  readonly #circuit = new Circuit(circuitTimes);
  readonly #options: PublishChannelOptions;
  #channel: ConfirmChannel | undefined;
  readonly #returned = new Set<string>();
  readonly #pending = new Set<(result: PublishResult) => void>();
  #lastId = 0;
  #hasConfirmed = false;

  constructor(options: PublishChannelOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /**
   * A broker that has just started accepts connections half a second before its queues have a leader, and confirms nothing
   * meanwhile. So the first publish on a new channel is a trial, and no other publish waits for its outcome.
   */
  mayPublish(now: number): boolean {
    if (!this.#channel || (!this.#hasConfirmed && this.#pending.size > 0)) return false;
    return this.#circuitsWouldAllow(now);
  }

  async open(model: ChannelModel): Promise<Channel> {
    const channel = await model.createConfirmChannel();
    this.#returned.clear();
    channel.on('return', (message: AmqpMessage) => {
      this.#returned.add(String(message.properties.messageId));
    });
    this.#channel = channel;
    this.#hasConfirmed = false;
    this.#circuit.succeeded();
    this.#options.brokerCircuit.succeeded();
    return channel;
  }

  lost(): void {
    this.#channel = undefined;
    for (const end of this.#pending) end({ kind: 'failed', reason: 'channel_closed', maybeStored: true });
    this.#pending.clear();
  }

  publish(exchange: string, routingKey: string, body: Buffer): Promise<PublishResult> {
    const channel = this.#channel;
    const publishedAt = Date.now();
    const refusal = this.#refusal(publishedAt);
    if (refusal !== undefined || channel === undefined) {
      return Promise.resolve({ kind: 'failed', reason: refusal ?? 'disconnected', maybeStored: false });
    }
    const messageId = String((this.#lastId += 1));
    const { result, end, onConfirm } = this.#expectConfirm(messageId, publishedAt);
    const options = {
      persistent: true,
      mandatory: true,
      messageId,
      timestamp: Math.floor(publishedAt / 1_000),
    };
    try {
      channel.publish(exchange, routingKey, body, options, onConfirm);
    } catch {
      end({ kind: 'failed', reason: 'channel_closed', maybeStored: false });
    }
    return result;
  }

  /** These closures live until the confirm. Closures of `publish` would hold the body as long. */
  #expectConfirm(
    messageId: string,
    publishedAt: number,
  ): {
    result: Promise<PublishResult>;
    end: (result: PublishResult) => void;
    onConfirm: (error: unknown) => void;
  } {
    let resolveWith: (result: PublishResult) => void;
    const result = new Promise<PublishResult>((resolve) => (resolveWith = resolve));
    const end = (ended: PublishResult) => {
      clearTimeout(timer);
      this.#pending.delete(end);
      resolveWith(ended);
    };
    const timer = setTimeout(() => {
      const now = Date.now();
      this.#circuit.failed(now);
      this.#options.onTimeout(publishedAt, now);
      end({ kind: 'failed', reason: 'timed_out', maybeStored: true });
    }, this.#options.confirmTimeoutMs);
    this.#pending.add(end);
    return { result, end, onConfirm: (error) => end(this.#resultOf(messageId, error)) };
  }

  #refusal(now: number): PublishFailure | undefined {
    if (!this.#channel) return 'disconnected';
    if (this.#pending.size >= this.#options.inFlightMax) return 'overloaded';
    if (!this.#circuitsWouldAllow(now)) return 'circuit_open';
    this.#circuit.allows(now);
    this.#options.brokerCircuit.allows(now);
    return undefined;
  }

  #circuitsWouldAllow(now: number): boolean {
    return this.#circuit.wouldAllow(now) && this.#options.brokerCircuit.wouldAllow(now);
  }

  /** A return always comes before the confirm of the same message. Must not throw: amqplib would drop the connection. */
  #resultOf(messageId: string, error: unknown): PublishResult {
    const returned = this.#returned.delete(messageId);
    if (error) {
      const nacked = error instanceof Error && error.message === 'message nacked';
      return { kind: 'failed', reason: nacked ? 'nacked' : 'channel_closed', maybeStored: !nacked };
    }
    this.#circuit.succeeded();
    this.#options.brokerCircuit.succeeded();
    this.#hasConfirmed = true;
    this.#options.onConfirm(Date.now());
    return returned ? { kind: 'failed', reason: 'returned', maybeStored: false } : { kind: 'confirmed' };
  }
}

import { findActiveCallers } from '@hqrelay/db/queries/active-callers';
import { readLive } from '@hqrelay/db/queries/live';
import type { Logger } from '@hqrelay/runtime/logger';
import type { Response } from 'express';
import type pg from 'pg';
import { LiveStream } from './live-stream.ts';

export type LiveFeedOptions = {
  /** For the events. Postgres ends each statement after five seconds. */
  reads: pg.Pool;
  /** Of the primary, so that a replica that lags does not keep a revoked caller listening. */
  pool: pg.Pool;
  logger: Pick<Logger, 'warn'>;
  now: () => number;
  /** Between two comments that show that a silent stream lives. */
  beatEveryMs?: number;
};

const streamsMax = 200;
const streamsOfCallerMax = 10;
const pollEveryMs = 1_000;
const rowsMax = 500;

/**
 * The event streams of this process. While there is one, it polls the tables: one query at a time, and one poll for all streams of
 * a project, so that any number of streams costs the database little and the receivers nothing. Each poll first checks that the
 * callers of the streams are still active.
 */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #streams = new Set<LiveStream>();
  #polling: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
  }

  /** Why a caller may not open another stream now. */
  refusal(callerId: string): 'process_full' | 'caller_full' | undefined {
    if (this.#streams.size >= streamsMax) return 'process_full';
    const own = [...this.#streams].filter((stream) => stream.callerId === callerId).length;
    return own >= streamsOfCallerMax ? 'caller_full' : undefined;
  }

  /** Answers with the events of a project until the client closes, its key or session ends, or for `seconds`. */
  open(response: Response, asked: { projectId: string; callerId: string; seconds: number }): void {
    const stream = new LiveStream(response, { ...asked, now: this.#options.now() });
    this.#streams.add(stream);
    const ending = setTimeout(() => stream.end(), asked.seconds * 1_000);
    response.once('close', () => {
      clearTimeout(ending);
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#stop();
    });
    this.#beating ??= setInterval(() => this.#beat(), this.#options.beatEveryMs ?? 15_000);
    this.#schedule();
  }

  close(): void {
    for (const stream of this.#streams) stream.end();
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#polling);
    clearInterval(this.#beating);
    this.#polling = undefined;
    this.#beating = undefined;
  }

  #beat(): void {
    for (const stream of this.#streams) stream.beat();
  }

  #schedule(): void {
    if (this.#isPolling || this.#polling) return;
    this.#polling = setTimeout(() => {
      this.#polling = undefined;
      this.#isPolling = true;
      void this.#poll().finally(() => {
        this.#isPolling = false;
        if (this.#streams.size > 0) this.#schedule();
      });
    }, pollEveryMs);
  }

  /** Never rejects. While callers cannot be checked, no stream gets an event; none is lost. */
  async #poll(): Promise<void> {
    try {
      await this.#endRevoked();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'live.callers_not_checked');
      return;
    }
    await this.#sendEvents();
  }

  /** Ends the streams whose key or session was revoked or has expired since they were opened. */
  async #endRevoked(): Promise<void> {
    const callerIds = new Set([...this.#streams].map((stream) => stream.callerId));
    const active = await findActiveCallers(this.#options.pool, [...callerIds]);
    for (const stream of this.#streams) {
      if (callerIds.has(stream.callerId) && !active.has(stream.callerId)) stream.end();
    }
  }

  async #sendEvents(): Promise<void> {
    const { reads, logger, now } = this.#options;
    for (const projectId of new Set([...this.#streams].map((stream) => stream.projectId))) {
      const streams = [...this.#streams].filter((stream) => stream.projectId === projectId);
      const polledAt = now();
      const from = Math.min(...streams.map((stream) => stream.from));
      try {
        const events = await readLive(reads, projectId, { from, rowsMax });
        for (const stream of streams) stream.send(events, { polledAt, wasCut: events.length >= rowsMax });
      } catch (error) {
        logger.warn({ err: error, projectId }, 'live.not_read');
      }
    }
  }
}

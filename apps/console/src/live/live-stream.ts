import type { LiveEvent } from '@hqrelay/db/queries/live';
import type { Response } from 'express';

/** A client that has read less than this of what was sent is too slow. */
const unreadBytesMax = 256 << 10;
/** Rows of one poll that were sent are remembered so long, because rows become visible in another order than they were made. */
const overlapMs = 10_000;
/** How far back a stream resumes. */
const resumeMaxMs = 300_000;

/** The server-sent events of one client. */
export class LiveStream {
  readonly projectId: string;
  readonly callerId: string;
  /** ms since epoch: rows from then on are read for it. */
  from: number;
  readonly #response: Response;
  readonly #startedAt: number;
  readonly #sent = new Map<string, number>();
  #lastAt: number;

  constructor(
    response: Response,
    { projectId, callerId, now }: { projectId: string; callerId: string; now: number },
  ) {
    this.projectId = projectId;
    this.callerId = callerId;
    this.#response = response;
    const resumedAt = Number(
      /^\d{13}$/.exec(response.req.get('last-event-id') ?? '')?.[0] ?? now + overlapMs,
    );
    this.#startedAt = Math.max(Math.min(resumedAt - overlapMs, now), now - resumeMaxMs);
    this.from = this.#startedAt;
    this.#lastAt = now;
    response.status(200).set({
      'Content-Type': 'text/event-stream',
      // Tells nginx to pass each event on at once.
      'X-Accel-Buffering': 'no',
    });
    this.#write('retry: 1000\n\n');
  }

  /** Sends the events that it has not sent. `wasCut`: there were more. */
  send(events: readonly LiveEvent[], { polledAt, wasCut }: { polledAt: number; wasCut: boolean }): void {
    const fresh = events.filter(({ at, fact }) => at.getTime() >= this.from && !this.#sent.has(fact.id));
    if (wasCut && fresh.length > 0) this.#write(`event: gap\ndata: {}\n\n`);
    for (const { kind, at, fact } of fresh) {
      this.#lastAt = Math.max(this.#lastAt, at.getTime());
      this.#sent.set(fact.id, at.getTime());
      const data = JSON.stringify({ ...fact, at });
      this.#write(`event: ${kind}\nid: ${String(this.#lastAt).padStart(13, '0')}\ndata: ${data}\n\n`);
    }
    this.from = Math.max(this.#startedAt, polledAt - overlapMs);
    for (const [id, at] of this.#sent) if (at < this.from) this.#sent.delete(id);
  }

  /** A comment, so that proxies and clients see that the stream lives. */
  beat(): void {
    this.#write(': beat\n\n');
  }

  end(): void {
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#response.write(text);
    if (this.#response.writableLength > unreadBytesMax) this.#response.destroy();
  }
}

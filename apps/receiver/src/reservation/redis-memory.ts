import { distrustMemory } from '@hqrelay/cache/admission';
import type { Cache } from '@hqrelay/cache/client';

const projectsMax = 100_000;
/** By then every receiver is connected again, and has told Redis what it took without it. */
const othersTellMs = 15_000;

/**
 * Whether Redis can be believed when it does not know an id. Remembers for which projects it missed something while it was
 * away, and tells it so before it is asked again: from then on, for one window, ids it does not know are looked up in
 * Postgres. So they are just after it came back, when other receivers may not have told it yet.
 */
export class RedisMemory {
  readonly #cache: Cache;
  readonly #missed = new Set<string>();
  #inDoubtUntil = 0;
  #hasLearnt = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Ids of this project may have been accepted without Redis. */
  missed(projectId: string): void {
    if (this.#missed.size < projectsMax) this.#missed.add(projectId);
  }

  /** Once, when Postgres can be asked: the projects of which receivers before this one accepted ids without Redis. */
  async learn(ask: () => Promise<{ value: string[] } | undefined>): Promise<void> {
    if (this.#hasLearnt) return;
    const answer = await ask();
    for (const projectId of answer?.value ?? []) this.missed(projectId);
    this.#hasLearnt ||= answer !== undefined;
  }

  async settled(projectId: string): Promise<void> {
    if (!this.#missed.has(projectId)) return;
    if (await distrustMemory(this.#cache, projectId).catch(() => false)) this.#missed.delete(projectId);
  }

  /** Whether a webhook that Redis does not know may have come within its window all the same. */
  mayLack({ redisAgeMs, windowMs }: { redisAgeMs: number; windowMs: number }): boolean {
    return redisAgeMs < windowMs || performance.now() < this.#inDoubtUntil;
  }

  /** The connection broke. A Redis that is only slow still runs what it was sent, and knows those ids in the end. */
  wasLost(): void {
    this.#inDoubtUntil = Number.POSITIVE_INFINITY;
  }

  /** Redis is back: it is told at once of every project that it missed something of. */
  async cameBack(): Promise<void> {
    if (this.#inDoubtUntil === Number.POSITIVE_INFINITY)
      this.#inDoubtUntil = performance.now() + othersTellMs;
    for (const projectId of this.#missed) await this.settled(projectId);
  }
}

import { distrustMemory } from '@hqrelay/cache/admission';
import type { Cache } from '@hqrelay/cache/client';

const projectsMax = 100_000;

/**
 * Remembers for which projects Redis missed something while it was away, and tells it so before it is asked again: from
 * then on, for one window, ids it does not know are looked up in Postgres.
 */
export class RedisMemory {
  readonly #cache: Cache;
  readonly #missed = new Set<string>();

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Ids of this project may have been accepted without Redis. */
  missed(projectId: string): void {
    if (this.#missed.size < projectsMax) this.#missed.add(projectId);
  }

  async settled(projectId: string): Promise<void> {
    if (!this.#missed.has(projectId)) return;
    if (await distrustMemory(this.#cache, projectId).catch(() => false)) this.#missed.delete(projectId);
  }

  /** Redis is back: every project that it missed something of, at once. */
  async settleAll(): Promise<void> {
    for (const projectId of this.#missed) await this.settled(projectId);
  }
}

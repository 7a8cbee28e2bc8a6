import { setTimeout as wait } from 'node:timers/promises';
import { distrustMemory } from '@hqrelay/cache/admission/project-memory';
import type { Cache } from '@hqrelay/cache/client';

/** Projects that are reported at the same time. */
const reportsAtOnce = 100;
/** Within this time every receiver reconnects and reports the projects that it served without Redis. */
const othersReportWithinMs = 15_000;
const learnAgainAfterMs = 1_000;

/**
 * Whether an id without a key in Redis is new. Redis has no key of an id that was accepted without it, so each receiver
 * reports the projects that it served meanwhile: for one window, ids of these projects without a key are looked up in
 * Postgres. After a reconnect, ids of all projects are, until the other receivers have reported.
 */
export class RedisTrust {
  readonly #cache: Cache;
  /** Projects of verified requests alone, so that no sender without a secret adds to it. */
  readonly #unreported = new Set<string>();
  #inDoubtUntil = 0;
  #isLearning = false;
  #hasLearnt = false;

  constructor(cache: Cache) {
    this.#cache = cache;
    // Only a lost connection counts: a slow Redis still runs the commands that it received, and stores their ids.
    cache.redis.on('close', () => (this.#inDoubtUntil = Number.POSITIVE_INFINITY));
  }

  /** Ids of this project may be accepted without Redis from now on. */
  servedWithout(projectId: string): void {
    if (this.#unreported.has(projectId)) return;
    this.#unreported.add(projectId);
    // A stalled Redis runs this when it resumes, before later commands of other receivers. After a failure `report` repeats it.
    if (this.#cache.redis.status === 'ready') {
      void distrustMemory(this.#cache.redis, projectId).catch(() => undefined);
    }
  }

  /** Whether the project was served without Redis: `report` must end before Redis is asked for the project again. */
  mustReport(projectId: string): boolean {
    return this.#unreported.has(projectId);
  }

  /** Reports the project to Redis if it was served without it. */
  async report(projectId: string): Promise<void> {
    if (!this.mustReport(projectId)) return;
    // A Redis that refuses the command counts as unavailable; the cache reports it.
    const answer = await this.#cache
      .tryCommand((redis) => distrustMemory(redis, projectId).then(() => true))
      .catch(() => undefined);
    if (answer) this.#unreported.delete(projectId);
  }

  /** Reads, once, which projects earlier receivers served without Redis. Called when Postgres is up; retries a failed read. */
  async learn(projectsServedWithout: () => Promise<{ value: string[] } | undefined>): Promise<void> {
    if (this.#hasLearnt || this.#isLearning) return;
    this.#isLearning = true;
    let answer = await projectsServedWithout();
    while (!answer) {
      await wait(learnAgainAfterMs, undefined, { ref: false });
      answer = await projectsServedWithout();
    }
    for (const projectId of answer.value) this.servedWithout(projectId);
    this.#hasLearnt = true;
  }

  /** Called when Redis is up again. */
  async reportAll(): Promise<void> {
    if (this.#inDoubtUntil === Number.POSITIVE_INFINITY) {
      this.#inDoubtUntil = performance.now() + othersReportWithinMs;
    }
    const all = [...this.#unreported];
    for (let first = 0; first < all.length; first += reportsAtOnce) {
      await Promise.all(all.slice(first, first + reportsAtOnce).map((projectId) => this.report(projectId)));
    }
  }

  /** True until `learn` has succeeded: before that, this receiver cannot know which projects were served without Redis. */
  isInDoubt(): boolean {
    return !this.#hasLearnt || performance.now() < this.#inDoubtUntil;
  }
}

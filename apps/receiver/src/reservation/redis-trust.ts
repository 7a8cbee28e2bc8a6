import { distrustMemory } from '@hqrelay/cache/admission';
import type { Cache } from '@hqrelay/cache/client';

const projectsMax = 100_000;
/** By then every receiver is connected again and has reported the projects that it served without Redis. */
const othersReportWithinMs = 15_000;

/**
 * Whether Redis is believed when it does not know an id. Ids that were accepted without Redis it cannot know, so each
 * receiver reports the projects that it served meanwhile: from then on, for one window, ids of these projects that Redis
 * does not know are looked up in Postgres. So are all ids just after a reconnect, until the other receivers have reported.
 */
export class RedisTrust {
  readonly #cache: Cache;
  readonly #unreported = new Set<string>();
  #inDoubtUntil = 0;
  #hasLearnt = false;

  constructor(cache: Cache) {
    this.#cache = cache;
    // A Redis that is only slow still runs the commands that it was sent, and knows their ids in the end.
    cache.redis.on('close', () => (this.#inDoubtUntil = Number.POSITIVE_INFINITY));
  }

  /** Ids of this project may be accepted without Redis from now on. */
  servedWithout(projectId: string): void {
    if (this.#unreported.has(projectId) || this.#unreported.size === projectsMax) return;
    this.#unreported.add(projectId);
    // A stalled Redis runs this when it resumes, before the commands that other receivers send it then.
    if (this.#cache.redis.status === 'ready') {
      void distrustMemory(this.#cache.redis, projectId).catch(() => {});
    }
  }

  /** Reports the project to Redis if it was served without it. Redis must know before it is asked for the project again. */
  async report(projectId: string): Promise<void> {
    if (!this.#unreported.has(projectId)) return;
    const answer = await this.#cache
      .tryCommand((redis) => distrustMemory(redis, projectId).then(() => true))
      .catch(() => undefined);
    if (answer) this.#unreported.delete(projectId);
  }

  /** Once, as soon as Postgres answers: the projects that receivers before this one served without Redis. */
  async learn(projectsServedWithout: () => Promise<{ value: string[] } | undefined>): Promise<void> {
    if (this.#hasLearnt) return;
    const answer = await projectsServedWithout();
    for (const projectId of answer?.value ?? []) this.servedWithout(projectId);
    this.#hasLearnt ||= answer !== undefined;
  }

  /** To be called when Redis is up again. */
  async reportAll(): Promise<void> {
    if (this.#inDoubtUntil === Number.POSITIVE_INFINITY) {
      this.#inDoubtUntil = performance.now() + othersReportWithinMs;
    }
    for (const projectId of this.#unreported) await this.report(projectId);
  }

  isInDoubt(): boolean {
    return performance.now() < this.#inDoubtUntil;
  }
}

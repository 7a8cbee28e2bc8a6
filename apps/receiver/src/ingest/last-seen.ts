import type { Postgres } from '@hqrelay/db/postgres';
import { raiseLastSeen } from '@hqrelay/db/queries/last-seen';

const writeTimeoutMs = 2_000;
const idsMax = 100_000;

/** Collects when each project last received a webhook and each secret last verified one, to write them every few seconds. */
export class LastSeenTimes {
  readonly #postgres: Postgres;
  #projects = new Map<string, number>();
  #secrets = new Map<string, number>();

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  readonly add = (secretId: string, projectId: string, now: number): void => {
    if (this.#projects.size < idsMax || this.#projects.has(projectId)) this.#projects.set(projectId, now);
    if (this.#secrets.size < idsMax || this.#secrets.has(secretId)) this.#secrets.set(secretId, now);
  };

  /** Writes the collected times. Those that Postgres does not take are dropped: the next webhook brings newer ones. */
  async write(): Promise<void> {
    const seen = { projects: this.#projects, secrets: this.#secrets };
    this.#projects = new Map();
    this.#secrets = new Map();
    await this.#postgres.tryWithin(writeTimeoutMs, (pool) => raiseLastSeen(pool, seen));
  }
}

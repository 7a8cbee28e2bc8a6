import type { Postgres } from '@hqrelay/db/postgres';
import { raiseLastSeen } from '@hqrelay/db/queries/last-seen';

const writeTimeoutMs = 2_000;
const idsMax = 100_000;

/** Collects when projects received and secrets verified, for a write every few seconds instead of one per webhook. */
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

  /** Writes what was collected. What Postgres does not take is collected again with the next webhook. */
  async write(): Promise<void> {
    const seen = { projects: this.#projects, secrets: this.#secrets };
    this.#projects = new Map();
    this.#secrets = new Map();
    await this.#postgres.tryWithin(writeTimeoutMs, (pool) => raiseLastSeen(pool, seen));
  }
}

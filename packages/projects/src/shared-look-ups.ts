import type { CachedConfig, ConfigCache } from '@hqrelay/cache/project-config';
import type { Postgres } from '@hqrelay/db/postgres';
import { readProjectConfigs } from '@hqrelay/db/queries/project-config';
import { projectConfig, type ProjectConfig } from '@hqrelay/domain/project-config';
import { Batcher } from '@hqrelay/flow/batcher';

const idsPerBatch = 200;
const idsWaitingMax = 10_000;
const statementsMax = 2;
const postgresTimeoutMs = 600;

type Waiting = { projectId: string; now: number };

/**
 * Looks up projects that this process does not have in memory. A sender needs no secret to cause such a look-up, so look-ups
 * share commands and statements, use two connections at most, and never raise doubt about the health of Postgres.
 */
export class SharedLookUps {
  readonly #configs: ConfigCache;
  readonly #postgres: Postgres;
  readonly #inRedis: Batcher<Waiting, CachedConfig>;
  readonly #inPostgres: Batcher<string, { config: unknown } | undefined>;
  /** Statements that Postgres has not answered yet, those that are late included. */
  #statements = 0;

  constructor(configs: ConfigCache, postgres: Postgres) {
    this.#configs = configs;
    this.#postgres = postgres;
    const limits = {
      itemsMax: idsPerBatch,
      bytesMax: idsPerBatch,
      bytesWaitingMax: idsWaitingMax,
      bytesOf: () => 1,
    };
    this.#inRedis = new Batcher({ ...limits, batchesAtOnce: 1, run: (waiting) => this.#readRedis(waiting) });
    this.#inPostgres = new Batcher({
      ...limits,
      batchesAtOnce: statementsMax,
      run: (projectIds) => this.#readPostgres(projectIds),
    });
  }

  /** The cached configuration; `unavailable` also when too many look-ups wait. */
  async readRedis(projectId: string, now: number): Promise<CachedConfig> {
    return (await this.#inRedis.add({ projectId, now })) ?? { kind: 'unavailable' };
  }

  /** Undefined when Postgres is unavailable or late, or too many look-ups wait. */
  async readPostgres(projectId: string): Promise<{ value: ProjectConfig | null } | undefined> {
    const answer = await this.#inPostgres.add(projectId);
    return answer && { value: answer.config === null ? null : projectConfig.parse(answer.config) };
  }

  #readRedis(waiting: readonly Waiting[]): Promise<CachedConfig[]> {
    const now = Math.max(...waiting.map((each) => each.now));
    return this.#configs.readMany(
      waiting.map(({ projectId }) => projectId),
      now,
    );
  }

  async #readPostgres(projectIds: readonly string[]): Promise<({ config: unknown } | undefined)[]> {
    const answer =
      this.#statements < statementsMax
        ? await this.#postgres.tryWithin(
            postgresTimeoutMs,
            (pool) => this.#counted(readProjectConfigs(pool, projectIds)),
            { raisesDoubt: false },
          )
        : undefined;
    return projectIds.map((_, index) => answer && { config: answer.value[index] ?? null });
  }

  #counted<T>(statement: Promise<T>): Promise<T> {
    this.#statements += 1;
    return statement.finally(() => (this.#statements -= 1));
  }
}

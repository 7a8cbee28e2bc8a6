import type { CachedConfig, ConfigCache, FoundConfig } from '@hqrelay/cache/project-config';
import type { Postgres } from '@hqrelay/db/postgres';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { SharedLookUps } from './shared-look-ups.ts';

export type ProjectLookup =
  | { kind: 'found'; project: ProjectConfig }
  | { kind: 'unknown' }
  /** No store answers, and this process has no cached configuration. */
  | { kind: 'unavailable' };

export type ProjectDirectoryOptions = { configs: ConfigCache; postgres: Postgres };

/** `inRedis`: the entry that `project` was read from. */
type Entry = { project: ProjectConfig; inRedis: FoundConfig | undefined; loadedAt: number; fresh: boolean };

const freshForMs = 5_000;
const lastKnownForMs = 3_600_000;
const entriesMax = 10_000;
const unknownMax = 10_000;
const postgresTimeoutMs = 600;

/**
 * Step 2 of the receiver: finds projects in the memory of this process (for five seconds), then in Redis, then in Postgres.
 * While no store answers, the last answer is used for an hour. The least recently loaded entries are evicted first. Ids that
 * are no project have a map of their own, so that they evict none.
 */
export class ProjectDirectory {
  readonly #options: ProjectDirectoryOptions;
  readonly #shared: SharedLookUps;
  readonly #entries = new Map<string, Entry>();
  /** When each id was found to be no project. */
  readonly #unknown = new Map<string, number>();
  readonly #loading = new Map<string, Promise<ProjectLookup>>();

  constructor(options: ProjectDirectoryOptions) {
    this.#options = options;
    this.#shared = new SharedLookUps(options.configs, options.postgres);
  }

  /** `projectId` in lower case. */
  find(projectId: string, now: number): ProjectLookup | Promise<ProjectLookup> {
    const entry = this.#entries.get(projectId);
    if (entry?.fresh && now - entry.loadedAt < freshForMs) return lookupOf(entry.project);
    const unknownSince = this.#unknown.get(projectId);
    if (unknownSince !== undefined && now - unknownSince < freshForMs) return { kind: 'unknown' };
    const loading = this.#loading.get(projectId) ?? this.#startLoading(projectId, now);
    return loading;
  }

  /** Whether this process has the project in memory. */
  isKnown(projectId: string): boolean {
    return this.#entries.has(projectId);
  }

  /** Called after an announced change; null when announcements may have been missed. The entry is then used only if no store answers. */
  forget(projectId: string | null): void {
    // A load that began before the change may return the state from before it.
    if (projectId === null) {
      for (const entry of this.#entries.values()) entry.fresh = false;
      this.#unknown.clear();
      this.#loading.clear();
    } else {
      const entry = this.#entries.get(projectId);
      if (entry) entry.fresh = false;
      this.#unknown.delete(projectId);
      this.#loading.delete(projectId);
    }
  }

  #startLoading(projectId: string, now: number): Promise<ProjectLookup> {
    const isCurrent = () => this.#loading.get(projectId) === loading;
    const loading: Promise<ProjectLookup> = this.#load(projectId, now, isCurrent).finally(() => {
      if (isCurrent()) this.#loading.delete(projectId);
    });
    this.#loading.set(projectId, loading);
    return loading;
  }

  async #load(projectId: string, now: number, isCurrent: () => boolean): Promise<ProjectLookup> {
    const cached = await this.#readRedis(projectId, now);
    if (cached.kind === 'found') {
      return isCurrent() ? this.#keep(projectId, cached.config, now, cached) : lookupOf(cached.config);
    }
    const answer = await this.#readPostgres(projectId);
    if (answer) {
      if (!isCurrent()) return lookupOf(answer.value);
      if (answer.value && cached.kind === 'absent') {
        void this.#options.configs.write(answer.value, now, cached.untrusted);
      }
      return this.#keep(projectId, answer.value, now);
    }
    const last = this.#entries.get(projectId);
    return last && now - last.loadedAt < lastKnownForMs ? lookupOf(last.project) : { kind: 'unavailable' };
  }

  #readRedis(projectId: string, now: number): Promise<CachedConfig> {
    const held = this.#entries.get(projectId);
    return held
      ? this.#options.configs.read(projectId, now, held.inRedis)
      : this.#shared.readRedis(projectId, now);
  }

  #readPostgres(projectId: string): Promise<{ value: ProjectConfig | null } | undefined> {
    if (!this.#entries.has(projectId)) return this.#shared.readPostgres(projectId);
    const { postgres } = this.#options;
    return postgres.tryWithin(postgresTimeoutMs, (pool) => readProjectConfig(pool, projectId));
  }

  #keep(projectId: string, project: ProjectConfig | null, now: number, inRedis?: FoundConfig): ProjectLookup {
    const held = this.#entries.get(projectId);
    this.#entries.delete(projectId);
    if (!project) {
      setBounded(this.#unknown, projectId, now, unknownMax);
      return { kind: 'unknown' };
    }
    const isOlder = held !== undefined && held.project.version > project.version;
    const newest = isOlder ? { project: held.project, inRedis: held.inRedis } : { project, inRedis };
    setBounded(this.#entries, projectId, { ...newest, loadedAt: now, fresh: true }, entriesMax);
    return lookupOf(newest.project);
  }
}

function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= sizeMax) return;
  const [oldest] = map.keys();
  map.delete(oldest as string);
}

function lookupOf(project: ProjectConfig | null): ProjectLookup {
  return project ? { kind: 'found', project } : { kind: 'unknown' };
}

import type { ConfigCache } from '@hqrelay/cache/project-config';
import type { Postgres } from '@hqrelay/db/postgres';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import type { ProjectConfig } from '@hqrelay/domain/project-config';

export type ProjectLookup =
  | { kind: 'found'; project: ProjectConfig }
  | { kind: 'unknown' }
  /** No store answers, and this process has no cached configuration. */
  | { kind: 'unavailable' };

export type ProjectDirectoryOptions = { configs: ConfigCache; postgres: Postgres };

type Entry = { project: ProjectConfig | null; loadedAt: number; fresh: boolean };

const freshForMs = 5_000;
const lastKnownForMs = 3_600_000;
const entriesMax = 10_000;
const postgresTimeoutMs = 600;

/**
 * Step 2 of the receiver: finds projects in the memory of this process (for five seconds), then in Redis, then in Postgres.
 * While no store answers, the last answer is used for an hour. The least recently loaded entries are evicted first.
 */
export class ProjectDirectory {
  readonly #options: ProjectDirectoryOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<ProjectLookup>>();

  constructor(options: ProjectDirectoryOptions) {
    this.#options = options;
  }

  /** `projectId` in lower case. */
  find(projectId: string, now: number): ProjectLookup | Promise<ProjectLookup> {
    const entry = this.#entries.get(projectId);
    if (entry?.fresh && now - entry.loadedAt < freshForMs) return lookupOf(entry.project);
    const loading = this.#loading.get(projectId) ?? this.#startLoading(projectId, now);
    return loading;
  }

  /** Called after an announced change; null when announcements may have been missed. The entry is then used only if no store answers. */
  forget(projectId: string | null): void {
    // A load that began before the change may return the state from before it.
    if (projectId === null) {
      for (const entry of this.#entries.values()) entry.fresh = false;
      this.#loading.clear();
    } else {
      const entry = this.#entries.get(projectId);
      if (entry) entry.fresh = false;
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
    const { configs, postgres } = this.#options;
    const cached = await configs.read(projectId, now);
    if (cached.kind === 'found') {
      return isCurrent() ? this.#keep(projectId, cached.config, now) : lookupOf(cached.config);
    }
    const answer = await postgres.tryWithin(postgresTimeoutMs, (pool) => readProjectConfig(pool, projectId));
    if (answer) {
      if (!isCurrent()) return lookupOf(answer.value);
      if (answer.value && cached.kind === 'absent') {
        void configs.write(answer.value, now, cached.untrusted);
      }
      return this.#keep(projectId, answer.value, now);
    }
    const last = this.#entries.get(projectId);
    return last && now - last.loadedAt < lastKnownForMs ? lookupOf(last.project) : { kind: 'unavailable' };
  }

  #keep(projectId: string, project: ProjectConfig | null, now: number): ProjectLookup {
    const held = this.#entries.get(projectId);
    const newest =
      held?.project && project && held.project.version > project.version ? held.project : project;
    this.#entries.delete(projectId);
    this.#entries.set(projectId, { project: newest, loadedAt: now, fresh: true });
    if (this.#entries.size > entriesMax) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest as string);
    }
    return lookupOf(newest);
  }
}

function lookupOf(project: ProjectConfig | null): ProjectLookup {
  return project ? { kind: 'found', project } : { kind: 'unknown' };
}

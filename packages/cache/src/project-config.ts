import { projectConfig, type ProjectConfig } from '@hqrelay/domain/project-config';
import { isAuthentic, createMac, type ConfigMacKeys } from '@hqrelay/domain/secrets/config-mac';
import type { Redis } from 'ioredis';
import type { Cache } from './client.ts';

const channel = 'hqrelay:projectConfig:changed';

const key = (projectId: string): string => `hqrelay:projectConfig:{${projectId}}`;

/**
 * Replaces an entry after a change, for longer than any reader takes: a slow reader must not write back the state that it read
 * before the change. For the same reason a lower version never replaces a higher one.
 */
const changed = 'changed';
const changedForSeconds = 10;

// A value is: version, expiry in ms since epoch, MAC, configuration as JSON. All before the configuration is its head.
const value = /^(?<head>(?<version>\d{1,15}) (?<expiresAt>\d{1,15}) (?<mac>[\w-]{43}) )(?<content>\{.*\})$/s;

// ARGV: version, value, TTL in seconds, the untrusted value that it replaces or ''.
const storeIfNewer = `
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[4] then
  if held == '${changed}' then return 0 end
  local version = tonumber(string.match(held, '^(%d+) '))
  if version and version > tonumber(ARGV[1]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`;

const reportAgainAfterMs = 60_000;

export type ConfigCacheOptions = {
  cache: Cache;
  keys: ConfigMacKeys;
  ttlSeconds: number;
  /** Called when an entry has no valid MAC, at most once a minute. */
  onUntrusted: (projectId: string) => void;
};

/** `expiresAt` in ms since epoch. An entry with the same `head` has the same configuration. */
export type FoundConfig = { kind: 'found'; config: ProjectConfig; head: string; expiresAt: number };

export type CachedConfig =
  | FoundConfig
  /** `untrusted`: the present value, without a valid MAC; `write` may replace it whatever its version. */
  | { kind: 'absent'; untrusted?: string }
  | { kind: 'unavailable' };

/**
 * The configuration of projects in Redis. It decides which signatures are valid and where webhooks are sent, so each entry
 * carries a MAC that Redis cannot make, over the project, the version, the expiry and the content. An entry without a valid
 * MAC counts as absent.
 */
export class ConfigCache {
  readonly #options: ConfigCacheOptions;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConfigCacheOptions) {
    this.#options = options;
  }

  /** `now` in ms since epoch. `held`, an earlier answer, is returned while Redis has the same entry, of which only the head is read. */
  async read(projectId: string, now: number, held?: FoundConfig): Promise<CachedConfig> {
    if (held && held.expiresAt > now) {
      const head = await this.#ask((redis) => redis.getrange(key(projectId), 0, held.head.length - 1));
      if (!head) return { kind: 'unavailable' };
      if (head.value === held.head) return held;
    }
    const answer = await this.#ask((redis) => redis.get(key(projectId)));
    return answer ? this.#cachedConfig(projectId, answer.value, now) : { kind: 'unavailable' };
  }

  /** Reads several projects with one command, in the order of their ids. */
  async readMany(projectIds: readonly string[], now: number): Promise<CachedConfig[]> {
    const answer = await this.#ask((redis) => redis.mget(projectIds.map((projectId) => key(projectId))));
    return projectIds.map((projectId, index) =>
      answer ? this.#cachedConfig(projectId, answer.value[index] ?? null, now) : { kind: 'unavailable' },
    );
  }

  /** Does nothing while Redis is unavailable, or has a newer entry. */
  async write(config: ProjectConfig, now: number, untrusted = ''): Promise<void> {
    const { keys, ttlSeconds } = this.#options;
    const { id: projectId, version } = config;
    const expiresAt = Math.ceil(now) + ttlSeconds * 1_000;
    const content = JSON.stringify(config);
    const mac = createMac(keys, { projectId, version, expiresAt, content });
    const text = `${version} ${expiresAt} ${mac} ${content}`;
    await this.#ask((redis) =>
      redis.eval(storeIfNewer, 1, key(projectId), version, text, ttlSeconds, untrusted),
    );
  }

  /** Undefined when Redis is unavailable, or refuses the command: the cache reports it. */
  #ask<Value>(command: (redis: Redis) => Promise<Value>): Promise<{ value: Value } | undefined> {
    return this.#options.cache.tryCommand(command).catch(() => undefined);
  }

  #cachedConfig(projectId: string, text: string | null, now: number): CachedConfig {
    if (text === null || text === changed) return { kind: 'absent' };
    const entry = this.#verified(projectId, text);
    if (!entry) {
      this.#report(projectId);
      return { kind: 'absent', untrusted: text };
    }
    if (entry.expiresAt <= now) return { kind: 'absent' };
    const { head, expiresAt, content } = entry;
    const parsed = projectConfig.safeParse(JSON.parse(content));
    return parsed.success ? { kind: 'found', config: parsed.data, head, expiresAt } : { kind: 'absent' };
  }

  #verified(projectId: string, text: string) {
    const { head = '', version, expiresAt, mac = '', content = '' } = value.exec(text)?.groups ?? {};
    const cached = { projectId, version: Number(version), expiresAt: Number(expiresAt), content };
    return isAuthentic(this.#options.keys, cached, mac) ? { ...cached, head } : undefined;
  }

  #report(projectId: string): void {
    const now = performance.now();
    if (now - this.#reportedAt < reportAgainAfterMs) return;
    this.#reportedAt = now;
    this.#options.onUntrusted(projectId);
  }
}

/**
 * Announces to every receiver and worker that a project, its secrets or its endpoints have changed. Call it after the commit.
 * Throws when Redis is unavailable: the change then takes effect when the cached entries expire.
 */
export async function announceProjectChange(redis: Redis, projectId: string): Promise<void> {
  await redis.set(key(projectId), changed, 'EX', changedForSeconds);
  await redis.publish(channel, projectId);
}

/**
 * Calls `onChange` for every announced project, and with null whenever announcements may have been missed, which is at every
 * connection. `subscriber` must be a connection of its own.
 */
export function followProjectChanges(subscriber: Redis, onChange: (projectId: string | null) => void): void {
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(
      () => onChange(null),
      () => subscriber.disconnect(true),
    );
  });
  subscriber.on('message', (_channel, projectId) => onChange(projectId));
  subscriber.connect().catch(() => {
    // ioredis reconnects by itself, and 'ready' follows.
  });
}

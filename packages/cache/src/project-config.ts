import { projectConfig, type ProjectConfig } from '@hqrelay/domain/project-config';
import type { Redis } from 'ioredis';
import type { Cache } from './client.ts';

const channel = 'hqrelay:projectConfig:changed';

const key = (projectId: string): string => `hqrelay:projectConfig:{${projectId}}`;

// A reader that was slow must not put back what it read before a change: a lower version never replaces a higher one, and
// where a change was announced nothing is put for longer than any reader takes.
const changed = 'changed';
const changedForSeconds = 10;

const storeIfNewer = `
local held = redis.call('GET', KEYS[1])
if held then
  if held == '${changed}' then return 0 end
  local version = tonumber(string.match(held, '^(%d+) '))
  if version and version > tonumber(ARGV[1]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'EX', ARGV[3])
return 1`;

/** The cached config; null when Redis has none, undefined when it did not answer. An entry that cannot be read counts as none. */
export async function readCachedConfig(
  cache: Cache,
  projectId: string,
): Promise<ProjectConfig | null | undefined> {
  const answer = await cache.tryCommand((redis) => redis.get(key(projectId)));
  if (!answer) return undefined;
  const text = answer.value;
  if (text === null || text === changed) return null;
  try {
    const parsed = projectConfig.safeParse(JSON.parse(text.slice(text.indexOf(' ') + 1)));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

export async function cacheConfig(cache: Cache, config: ProjectConfig, ttlSeconds: number): Promise<void> {
  await cache.tryCommand((redis) =>
    redis.eval(storeIfNewer, 1, key(config.id), config.version, JSON.stringify(config), ttlSeconds),
  );
}

/**
 * Tells every receiver and worker that a project, its secrets or its endpoints have changed. To be called after the
 * commit. Throws when Redis cannot be reached: the change is then seen when the cached entries run out.
 */
export async function announceProjectChange(redis: Redis, projectId: string): Promise<void> {
  await redis.set(key(projectId), changed, 'EX', changedForSeconds);
  await redis.publish(channel, projectId);
}

/**
 * Calls `onChange` for every announced project, and with null whenever announcements may have been missed (at every
 * (re)connection). `subscriber` must be a connection of its own.
 */
export function followProjectChanges(subscriber: Redis, onChange: (projectId: string | null) => void): void {
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(
      () => onChange(null),
      () => subscriber.disconnect(true),
    );
  });
  subscriber.on('message', (_channel, projectId) => onChange(projectId));
  subscriber.connect().catch(() => {});
}

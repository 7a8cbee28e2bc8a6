import type { ActionResult, Actor, SealingDeps } from '@hqrelay/actions/action';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure, UsageError } from './cli.ts';
import { operatorName } from './config.ts';
import { withDatabase } from './database.ts';

/** The variables of every command that changes a project's configuration. */
export const actionVariables = ['CONSOLE_DATABASE_URL', 'REDIS_URL', 'CONFIG_CACHE_TTL_SECONDS'] as const;

type ActionConfig = { consoleDatabaseUrl: string; redisUrl: string; configCacheTtlSeconds: number };

const redisTimeoutMs = 1_000;

/** Runs an action on behalf of the operator and returns its value. Throws CommandFailure when it is refused. */
export async function performAction<T>(
  cli: Cli,
  config: ActionConfig,
  action: (deps: SealingDeps) => Promise<ActionResult<T>>,
): Promise<T> {
  const result = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    action({
      pool,
      actor: actorOfOperator(),
      secretsKey: () => loadConfig(['HQRELAY_SECRETS_KEY'], cli.env).secretsKey,
      announceChange: (projectId, change) => announce(cli, config, projectId, change),
    }),
  );
  return valueOf(cli, result);
}

export function actorOfOperator(): Actor {
  return `cli:${operatorName()}`;
}

/** Prints the warnings of an action and returns its value. Throws CommandFailure or UsageError when it was refused. */
export function valueOf<T>(cli: Cli, result: ActionResult<T>): T {
  if (result.kind === 'refused') {
    if (result.code === 'secret.too_short') {
      throw new UsageError(`${result.message}; --allow-short-secret takes it all the same`);
    }
    const isUsage =
      /^(?:alert\.invalid_|endpoint\.invalid_|console_link\.invalid_|project\.invalid_settings|secret\.invalid_form)/.test(
        result.code,
      );
    if (isUsage) throw new UsageError(result.message);
    throw new CommandFailure(result.message);
  }
  for (const warning of result.warnings) cli.warn(`warning: ${warning}\n`);
  return result.value;
}

/** When Redis is unavailable the change is not undone: a warning says how late processes may see it. */
async function announce(
  cli: Cli,
  config: ActionConfig,
  projectId: string,
  change: { isNew: boolean },
): Promise<void> {
  const [{ connectRedis }, { announceChange }] = await Promise.all([
    import('@hqrelay/cache/connect-redis'),
    import('@hqrelay/actions/announce-change'),
  ]);
  const redis = connectRedis(config.redisUrl, 'hqrelay-cli', { commandTimeout: redisTimeoutMs });
  let reason = '';
  redis.on('error', (error: Error) => (reason ||= error.message));
  try {
    await redis.connect();
    await announceChange(redis, projectId, change);
  } catch (error) {
    reason ||= error instanceof Error ? error.message : String(error);
    cli.warn(
      `warning: the change is saved, but Redis is unavailable (${reason}): it may take up to ` +
        `${config.configCacheTtlSeconds} s (CONFIG_CACHE_TTL_SECONDS) until every process sees it\n`,
    );
  } finally {
    redis.disconnect();
  }
}

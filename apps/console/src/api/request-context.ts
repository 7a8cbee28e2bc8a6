import type { Actor, SealingDeps } from '@hqrelay/actions/action';
import { announceChange } from '@hqrelay/actions/announce-change';
import type { NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import type { Sender } from '@hqrelay/outbound/send-request';
import type { ModelOptions } from '@hqrelay/insights/ask-model';
import type { Logger } from '@hqrelay/runtime/logger';
import type pg from 'pg';
import type { LiveFeed } from '../live/live-feed.ts';
import type { Report } from '../report.ts';
import type { Stores } from '../stores.ts';
import type { CookieConfig } from './access/cookie.ts';
import type { Caller } from './access/caller.ts';

export type ApiDeps = {
  stores: Stores;
  policy: NetworkPolicy;
  sender: Sender;
  secretsKey: string;
  cookie: CookieConfig;
  /** Of the sign-in links. */
  consoleUrl: string;
  /** Of the webhook URLs in answers. */
  webhookBaseUrl: string;
  deliveryTimeoutMs: number;
  configCacheTtlSeconds: number;
  /** Writes the summaries of insights; null where none is configured. */
  model: ModelOptions | null;
  live: LiveFeed;
  report: Report;
  logger: Logger;
  /** ms since epoch. */
  now: () => number;
};

/** What a handler works with. */
export type RequestContext = ApiDeps & {
  caller: Caller;
  /** Of the primary: for changes, and for what must be seen at once. */
  pool: pg.Pool;
  /** For lists and searches; may be a moment behind. */
  reads: pg.Pool;
  actions: SealingDeps;
  requestedBy: Actor;
  /** Sentences for the caller about consequences of the request. */
  warnings: string[];
};

export function createContext(deps: ApiDeps, caller: Caller): RequestContext {
  const { postgres, reads } = deps.stores;
  const { actor } = caller;
  const warnings: string[] = [];
  const actions: SealingDeps = {
    pool: postgres.pool,
    actor,
    secretsKey: () => deps.secretsKey,
    announceChange: (projectId, change) => announce(deps, warnings, projectId, change),
  };
  return {
    ...deps,
    caller,
    pool: postgres.pool,
    reads: reads.pool,
    actions,
    requestedBy: actor,
    warnings,
  };
}

/** When Redis is unavailable the change is not undone: processes see it when their cache expires. */
async function announce(
  { stores, logger, configCacheTtlSeconds }: ApiDeps,
  warnings: string[],
  projectId: string,
  change: { isNew: boolean },
): Promise<void> {
  try {
    await announceChange(stores.cache.redis, projectId, change);
  } catch (error) {
    logger.warn({ err: error, projectId }, 'change.not_announced');
    warnings.push(
      `the change is saved, but Redis is unavailable: it may take up to ${configCacheTtlSeconds} s until every process sees it`,
    );
  }
}

import type { Cache } from '@hqrelay/cache/client';
import { listNearLimit } from '@hqrelay/cache/near-limit';
import type { Postgres } from '@hqrelay/db/postgres';
import { readBacklogFacts, sampleBacklogs } from '@hqrelay/db/queries/alert-facts-backlog';
import {
  readDeadLetterFacts,
  readDisabledFacts,
  readFailingFacts,
} from '@hqrelay/db/queries/alert-facts-endpoints';
import {
  readNearLimitFacts,
  readRejectionFacts,
  readSilentFacts,
} from '@hqrelay/db/queries/alert-facts-projects';
import { dropNeedlessStates, readWatchers } from '@hqrelay/db/queries/alert-states';
import { listSilentProjects } from '@hqrelay/db/queries/silent-projects';
import { evaluatedKinds, type AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import type { Logger } from '@hqrelay/runtime/logger';
import { evaluateKind, type ReadKind } from '../alerts/evaluate-kind.ts';

export type EvaluateAlertsDeps = {
  postgres: Postgres;
  cache: Cache;
  logger: Pick<Logger, 'warn'>;
  now: () => number;
};

/**
 * Evaluates the rules by the facts in the tables, one kind in one transaction: a kind whose facts cannot be read delays no other.
 * Returns how many messages it made.
 */
export async function evaluateAlerts(deps: EvaluateAlertsDeps, stopping?: AbortSignal): Promise<number> {
  const { postgres, logger, now } = deps;
  if (!postgres.health.isUp) return 0;
  const watchers = await readWatchers(postgres.pool);
  if (watchers.length === 0) return 0;
  await dropNeedlessStates(postgres.pool);
  let made = 0;
  for (const [kind, readKind] of Object.entries(readersOf(deps)) as [AlertKind, ReadKind][]) {
    const ofKind = watchers.filter(({ kinds }) => evaluatedKinds(kinds).includes(kind));
    if (ofKind.length === 0 || stopping?.aborted) continue;
    try {
      made += await evaluateKind(postgres.pool, kind, readKind, { watchers: ofKind, now: now() });
    } catch (error) {
      logger.warn({ err: error, kind }, 'alert.not_evaluated');
    }
  }
  return made;
}

function readersOf({ cache }: EvaluateAlertsDeps): Record<AlertKind, ReadKind> {
  return {
    dead_letter: readDeadLetterFacts,
    endpoint_failing: readFailingFacts,
    endpoint_recovered: readFailingFacts,
    endpoint_disabled: readDisabledFacts,
    signature_rejections: readRejectionFacts,
    rate_limit_near: async (client, watchers, now) => {
      // While Redis is unavailable no limit is in force, and which projects were near theirs is not known.
      const near = await cache.tryCommand(listNearLimit);
      return near && readNearLimitFacts(client, watchers, now, near.value);
    },
    project_silent: async (client, watchers, now) => {
      const projectIds = watchers.map(({ projectId }) => projectId);
      return readSilentFacts(client, watchers, now, await listSilentProjects(client, now, projectIds));
    },
    backlog_growing: async (client, watchers, now) => {
      await sampleBacklogs(client, watchers, now);
      return readBacklogFacts(client, watchers, now);
    },
  };
}

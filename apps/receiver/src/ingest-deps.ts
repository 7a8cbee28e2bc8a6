import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import type { Postgres } from '@hqrelay/db/postgres';
import { findOwedEndpoints } from '@hqrelay/db/queries/prior-webhooks';
import { findRetiredSecrets, type RetiredSecretRow } from '@hqrelay/db/queries/retired-secrets';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import type { Logger } from '@hqrelay/runtime/logger';
import { batchedQuery } from './batched-query.ts';
import type { ReceiverConfig } from './config.ts';
import type { IngestDeps } from './ingest/ingest.ts';
import type { LastSeenTimes } from './ingest/last-seen.ts';
import { MismatchDiagnoses } from './ingest/mismatch-diagnoses.ts';
import { createNearLimit } from './limits/near-limit.ts';
import { createProjectBudget } from './limits/project-budget.ts';
import { ThinnedRows } from './limits/thinned-rows.ts';
import type { ReceiverReport } from './report.ts';
import { createPostgresStore } from './reservation/postgres-store.ts';
import { createRedisStore } from './reservation/redis-store.ts';
import type { RedisTrust } from './reservation/redis-trust.ts';
import type { Stores } from './stores.ts';

const publishConfirmTimeoutMs = 600;
const publishesInFlightMax = 5_000;
const rejectionRates = {
  perProject: { perSecond: 5, burst: 50 },
  total: { perSecond: 20, burst: 200 },
  quiet: { perSecond: 20, burst: 200 },
};
/** A diagnosis costs far more than a row. */
const diagnosisRates = {
  perProject: { perSecond: 1, burst: 10 },
  total: { perSecond: 5, burst: 50 },
  quiet: { perSecond: 5, burst: 50 },
};
const readRetiredTimeoutMs = 600;

type Parts = Stores & {
  trust: RedisTrust;
  directory: ProjectDirectory;
  lastSeen: LastSeenTimes;
  report: ReceiverReport;
  logger: Logger;
};

/** Wires what the steps of a request use. */
export function createIngestDeps(
  config: ReceiverConfig,
  parts: Parts,
): IngestDeps & { diagnoses: MismatchDiagnoses; thinned: ThinnedRows } {
  const { postgres, cache, trust, directory, lastSeen, report, logger } = parts;
  const publisher = new Publisher({
    name: 'ingest',
    connection: parts.broker,
    confirmTimeoutMs: publishConfirmTimeoutMs,
    inFlightMax: publishesInFlightMax,
  });
  const recorder = createRecorder(parts, publisher);
  const postgresStore = createPostgresStore(postgres);
  const secrets = new OpenedSecrets(parseSecretKeys(config.secretsKey), (error) =>
    logger.error({ err: error }, 'secret.unreadable'),
  );
  const recordLater: IngestDeps['recordLater'] = (row) => recorder.recordLater(row);
  return {
    cache,
    postgres,
    trust,
    redisStore: createRedisStore({
      cache,
      trust,
      findPrior: postgresStore.findPrior,
      onNearLimit: createNearLimit(cache, report.nearLimit),
    }),
    postgresStore,
    findOwed: createFindOwed(postgres, logger),
    publisher,
    recorder,
    secrets,
    findProject: (projectId, now) => directory.find(projectId, now),
    recordLater,
    thinned: new ThinnedRows(recordLater),
    mayRecordRejection: createProjectBudget(rejectionRates),
    diagnoses: new MismatchDiagnoses({
      secrets,
      findRetired: (projectIds) => readRetired(postgres, logger, projectIds),
      recordLater,
      mayDiagnose: createProjectBudget(diagnosisRates),
    }),
    isKnownProject: (projectId) => directory.isKnown(projectId),
    onVerified: lastSeen.add,
    onPublished: report.published,
    onOrderUncertain: report.orderUncertain,
  };
}

/** A query that Postgres refuses is like one that it does not answer. */
export function createFindOwed(postgres: Postgres, logger: Logger): IngestDeps['findOwed'] {
  const findOwed = batchedQuery(postgres, findOwedEndpoints);
  return (id) =>
    findOwed(id).catch((error: unknown) => {
      logger.warn({ err: error }, 'owed_endpoints.not_read');
      return undefined;
    });
}

/** A sender needs no secret to cause this query, so it never raises doubt about the health of Postgres. */
async function readRetired(
  postgres: Postgres,
  logger: Logger,
  projectIds: readonly string[],
): Promise<RetiredSecretRow[]> {
  try {
    const answer = await postgres.tryWithin(
      readRetiredTimeoutMs,
      (pool) => findRetiredSecrets(pool, projectIds),
      { raisesDoubt: false },
    );
    return answer?.value ?? [];
  } catch (error) {
    logger.warn({ err: error }, 'retired_secrets.not_read');
    return [];
  }
}

function createRecorder({ postgres, logger }: Parts, publisher: Publisher): AuditRecorder {
  return new AuditRecorder({
    postgres,
    publisher,
    onSpilled: (rows) => logger.debug({ rows }, 'audit.spilled'),
    onParked: (row, reason) => logger.error({ kind: row.kind, reason }, 'audit.row_parked'),
    onBackgroundRowsLost: (rows) => logger.error({ rows }, 'audit.background_rows_lost'),
  });
}

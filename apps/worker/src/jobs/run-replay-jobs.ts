import { encodeReplay } from '@hqrelay/actions/replay/encode-replay';
import type { Postgres } from '@hqrelay/db/postgres';
import { listRunningReplayJobs } from '@hqrelay/db/queries/replay-jobs';
import { runReplayBatch } from '@hqrelay/db/queries/run-replay-batch';
import type { Logger } from '@hqrelay/runtime/logger';

export type RunReplayJobsDeps = { postgres: Postgres; logger: Pick<Logger, 'warn'>; now: () => number };

/** Batches of one job in one run, so that a job that looks at many webhooks and replays few does not delay the others. */
const batchesMax = 20;

/**
 * Continues every running replay job until every replay that is due soon is made. Several workers run the batches of a job in turn.
 * Returns how many deliveries were replayed.
 */
export async function runReplayJobs(deps: RunReplayJobsDeps, stopping?: AbortSignal): Promise<number> {
  const { postgres, logger } = deps;
  if (!postgres.health.isUp) return 0;
  let total = 0;
  for (const jobId of await listRunningReplayJobs(postgres.pool)) {
    try {
      total += await continueJob(deps, jobId, stopping);
    } catch (error) {
      logger.warn({ err: error, jobId }, 'replay_job.failed');
    }
  }
  return total;
}

async function continueJob(
  { postgres, now }: RunReplayJobsDeps,
  jobId: string,
  stopping: AbortSignal | undefined,
): Promise<number> {
  let total = 0;
  for (let batches = 0; batches < batchesMax && !stopping?.aborted; batches += 1) {
    const batch = await runReplayBatch(postgres.pool, jobId, { now: now(), encode: encodeReplay });
    total += batch.replayed;
    if (batch.kind !== 'continues') break;
  }
  return total;
}

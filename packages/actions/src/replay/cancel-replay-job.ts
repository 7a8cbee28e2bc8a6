import { inTransaction } from '@hqrelay/db/in-transaction';
import * as queries from '@hqrelay/db/queries/replay-jobs';
import type { ReplayJob } from '@hqrelay/db/queries/replay-jobs';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';

/** Cancels a running job. Replays that are due within two seconds are still sent. */
export async function cancelReplayJob(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  jobId: string,
): Promise<ActionResult<ReplayJob>> {
  return inTransaction(pool, async (client) => {
    const before = await queries.readReplayJob(client, jobId);
    if (!before) return refused('replay_job.not_found', `there is no replay job ${jobId}`);
    const after = await queries.cancelReplayJob(client, jobId);
    if (!after) return refused('replay_job.ended', `the replay job ${jobId} is ${before.state}`);
    const stateOf = ({ state, replayed }: ReplayJob) => ({ state, replayed });
    await recordChange(client, actor, {
      action: 'replay_job.cancel',
      projectId: after.projectId,
      target: jobId,
      before: stateOf(before),
      after: stateOf(after),
    });
    return done(after);
  });
}

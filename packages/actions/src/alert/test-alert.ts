import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertAlertMessages } from '@hqrelay/db/queries/alert-messages';
import { readAlertRule } from '@hqrelay/db/queries/alert-rules';
import { newId } from '@hqrelay/domain/ids';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';

/**
 * Makes a test message of a rule, also of one that is snoozed. It takes the way of every other message: a worker sends it within
 * seconds, and its attempts show what the channel answered.
 */
export async function testAlert(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  { alertId, now }: { alertId: string; now: number },
): Promise<ActionResult<{ messageId: string }>> {
  const messageId = newId(now);
  return inTransaction(pool, async (client) => {
    const alert = await readAlertRule(client, alertId);
    if (!alert) return refused('alert.not_found', `there is no alert ${alertId}`);
    await insertAlertMessages(client, [
      {
        id: messageId,
        ruleId: alertId,
        projectId: alert.projectId,
        type: 'test',
        state: 'firing',
        isReminder: false,
        endpointId: null,
        count: 1,
        reason: `asked for by ${actor}`,
        firstAt: null,
        lastAt: null,
        firstExampleId: null,
        lastExampleId: null,
        createdAt: now,
      },
    ]);
    return done({ messageId });
  });
}

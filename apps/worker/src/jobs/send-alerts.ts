import { inTransaction } from '@hqrelay/db/in-transaction';
import type { Postgres } from '@hqrelay/db/postgres';
import {
  claimDueMessages,
  insertAlertMessages,
  recordAlertAttempt,
  wasOperatorTold,
  type ClaimedMessage,
} from '@hqrelay/db/queries/alert-messages';
import { countBrokenChannels } from '@hqrelay/db/queries/alert-rules';
import { claimMs, failuresToBreak, nextTryAt } from '@hqrelay/domain/alerts/sending-schedule';
import { newId } from '@hqrelay/domain/ids';
import type { Logger } from '@hqrelay/runtime/logger';
import { sendMessage, type SendMessageDeps, type SendResult } from '../alerts/send-message.ts';

export type SendAlertsDeps = SendMessageDeps & { postgres: Postgres; logger: Pick<Logger, 'info' | 'warn'> };

/** Of messages that one worker sends at once. */
const batch = 20;
const batchesMax = 10;
/** The operator gets one mail in this time, however many channels are broken. */
const tellOperatorEveryMs = 3_600_000;

/** Sends the messages that are due and records each try. Returns how many were sent. */
export async function sendAlerts(deps: SendAlertsDeps, stopping?: AbortSignal): Promise<number> {
  const { postgres, now } = deps;
  let sent = 0;
  for (let batches = 0; batches < batchesMax && !stopping?.aborted && postgres.health.isUp; batches += 1) {
    const claimed = await claimDueMessages(postgres.pool, { now: now(), claimMs, limit: batch });
    const outcomes = await Promise.all(claimed.map((message) => sendOne(deps, message)));
    sent += outcomes.filter(Boolean).length;
    if (claimed.length < batch) break;
  }
  return sent;
}

async function sendOne(deps: SendAlertsDeps, claimed: ClaimedMessage): Promise<boolean> {
  const { logger, now } = deps;
  const startedAt = now();
  const started = performance.now();
  let result: SendResult;
  try {
    result = await sendMessage(deps, claimed);
  } catch (error) {
    logger.warn({ err: error, messageId: claimed.id }, 'alert.not_rendered');
    result = { isSent: false, answer: error instanceof Error ? error.message : String(error) };
  }
  const latencyMs = Math.round(performance.now() - started);
  await record(deps, claimed, { ...result, latencyMs, startedAt });
  const { id: messageId, ruleId, projectId, type, state, attemptNum } = claimed;
  const { isSent, answer } = result;
  logger[isSent ? 'info' : 'warn'](
    { messageId, ruleId, projectId, type, state, attemptNum, isSent, answer, latencyMs },
    'alert.attempted',
  );
  return isSent;
}

async function record(
  { postgres, now, operatorEmail }: SendAlertsDeps,
  { id: messageId, ruleId, projectId, attemptNum, createdAt }: ClaimedMessage,
  { isSent, answer, latencyMs, startedAt }: SendResult & { latencyMs: number; startedAt: number },
): Promise<void> {
  const again = isSent ? undefined : nextTryAt({ createdAt, attemptNum }, now());
  await inTransaction(postgres.pool, async (client) => {
    const status = isSent ? 'sent' : 'failed';
    const attempt = {
      messageId,
      ruleId,
      attemptNum,
      status,
      answer,
      latencyMs,
      attemptedAt: startedAt,
    } as const;
    const failures = await recordAlertAttempt(client, attempt, again);
    // A message to the operator has no rule, so that its own failure makes no further one.
    if (ruleId === null || failures < failuresToBreak || operatorEmail === undefined) return;
    if (await wasOperatorTold(client, now() - tellOperatorEveryMs)) return;
    await insertAlertMessages(client, [
      {
        id: newId(now()),
        ruleId: null,
        projectId,
        type: 'channel_broken',
        state: 'firing',
        isReminder: false,
        endpointId: null,
        count: await countBrokenChannels(client),
        reason: `alert rule ${ruleId}: ${answer}`,
        firstAt: null,
        lastAt: null,
        firstExampleId: null,
        lastExampleId: null,
        createdAt: now(),
      },
    ]);
  });
}

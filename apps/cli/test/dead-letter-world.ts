import { encodeReplay } from '@hqrelay/actions/replay/encode-replay';
import type { WebhookLogRow, WebhookPayloadRow } from '@hqrelay/db/queries/append-audit';
import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { listRunningReplayJobs } from '@hqrelay/db/queries/replay-jobs';
import { runReplayBatch } from '@hqrelay/db/queries/run-replay-batch';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { decodeMessage, type Envelope } from '@hqrelay/queue/messages';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import type { CliWorld } from './cli-world.ts';

type Received = Partial<WebhookLogRow> & { ageMs?: number; payload?: Partial<WebhookPayloadRow> | null };

/** Records a webhook as the receiver does: by default `queued` and owed to no endpoint. Returns its id. */
export async function receive(
  world: CliWorld,
  projectId: string,
  { ageMs = 0, payload = {}, ...log }: Received = {},
): Promise<string> {
  const id = newId(Date.now() - ageMs);
  const row = {
    id,
    projectId,
    eventType: 'payment.captured',
    payloadSha256: 'ab'.repeat(32),
    payloadBytes: 7,
    remoteAddr: '192.0.2.7',
    correlationId: 'correlation-1',
    ...log,
  };
  const headers = [['Content-Type', 'application/json']] as const;
  const stored = payload && { payload: Buffer.from('{"a":1}'), headers, query: '', ...payload };
  return recordWebhook(world.sql, row, stored);
}

/** Records a webhook whose delivery to one endpoint is a dead letter. Returns both ids. */
export async function die(
  world: CliWorld,
  projectId: string,
  endpointId: string,
  { deadForMs = 1_000, ...received }: Received & { deadForMs?: number } = {},
): Promise<{ id: string; deadLetterId: string }> {
  const id = await receive(world, projectId, { endpointIds: [endpointId], ...received });
  const deadLetterId = deliveryId(id, endpointId);
  const letter = {
    id: deadLetterId,
    kind: 'delivery' as const,
    reason: 'HTTP 500 at attempt 6, the last',
    projectId,
    webhookLogId: id,
    endpointId,
    content: null,
  };
  await insertDeadLetters(world.sql, [letter], Date.now() - deadForMs);
  return { id, deadLetterId };
}

/** The replays that are held for the workers, in the order of `due_at`. */
export async function heldReplays(
  world: CliWorld,
): Promise<{ dueAt: Date; envelope: Envelope; body: Buffer }[]> {
  const { rows } = await world.sql.query<{ due_at: Date; message: Buffer }>(
    `select due_at, message from held_deliveries where queue = 'hqrelay.replays' and reason = 'delay' order by due_at`,
  );
  return rows.map(({ due_at: dueAt, message }) => {
    const decoded = decodeMessage(message);
    if (decoded.kind !== 'message') throw new Error(decoded.reason);
    return { dueAt, ...decoded.message };
  });
}

/** Runs the replay jobs to their end, as a worker does. The clock advances by a minute when a job waits. */
export async function runReplayJobs(world: CliWorld): Promise<void> {
  for (let now = Date.now(); ; now += 60_000) {
    const jobIds = await listRunningReplayJobs(world.sql);
    if (jobIds.length === 0) return;
    for (const jobId of jobIds) {
      while ((await runReplayBatch(world.sql, jobId, { now, encode: encodeReplay })).kind === 'continues');
    }
  }
}

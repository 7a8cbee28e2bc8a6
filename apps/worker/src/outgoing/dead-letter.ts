import { decodeSpill } from '@hqrelay/audit/spill-format';
import type { NewDeadLetter } from '@hqrelay/db/queries/dead-letters';
import { deliveryId, idOfBytes, isUuid } from '@hqrelay/domain/ids';
import { decodeMessage, type Envelope, type Message } from '@hqrelay/queue/messages';
import { decodeParked } from '@hqrelay/queue/parked';
import type { WorkQueue } from '@hqrelay/queue/topology';
import { workQueueOf } from './outgoing.ts';

/** What a worker does with a message of `hqrelay.dead-letter`. */
export type Disposition =
  { kind: 'stored'; letters: NewDeadLetter[] } | { kind: 'put_back'; queue: WorkQueue; message: Message };

const overLimitTwice = 'requeued 20 times by workers, twice: over the delivery limit';

/**
 * A parked message is stored. A message that the broker moved here at its delivery limit is put back once if it is readable:
 * crashes and deploys count against every message that a worker held.
 */
export function dispositionOf(content: Buffer): Disposition {
  const parked = decodeParked(content);
  if (!parked) {
    const decoded = decodeMessage(content);
    if (decoded.kind === 'unreadable') return stored([bytesLetter('message', decoded.reason, content)]);
    const { envelope, body } = decoded.message;
    if (envelope.putBack) return stored(lettersOf(envelope, overLimitTwice, content));
    // The last worker that received it may have crashed between the attempt's row and its follow-up.
    const marks = { putBack: true, mayBeDuplicate: 'resume_if_recorded' } as const;
    const message = { envelope: { ...envelope, ...marks }, body };
    return { kind: 'put_back', queue: workQueueOf(envelope.delivery?.lane ?? 'live'), message };
  }
  const { kind, reason } = parked.why;
  if (kind === 'audit_row') return stored([auditRowLetter(reason, parked.content)]);
  // A parked message that is readable becomes dead letters of its deliveries, which can be replayed.
  const decoded = decodeMessage(parked.content);
  return stored(
    decoded.kind === 'message'
      ? lettersOf(decoded.message.envelope, reason, parked.content)
      : [bytesLetter('message', reason, parked.content)],
  );
}

function stored(letters: NewDeadLetter[]): Disposition {
  return { kind: 'stored', letters };
}

/** One for each delivery that a message owes. */
function lettersOf(envelope: Envelope, reason: string, content: Buffer): NewDeadLetter[] {
  const { id: webhookLogId, projectId, delivery, endpointIds } = envelope;
  const owed = delivery
    ? [delivery]
    : endpointIds.map((endpointId) => ({ endpointId, deliveryId: deliveryId(webhookLogId, endpointId) }));
  if (owed.length === 0) return [{ ...bytesLetter('message', reason, content), projectId, webhookLogId }];
  return owed.map(({ deliveryId: id, endpointId }) => ({
    id,
    kind: 'delivery',
    reason,
    projectId,
    webhookLogId,
    endpointId,
    content: null,
  }));
}

function auditRowLetter(reason: string, content: Buffer): NewDeadLetter {
  const letter = bytesLetter('audit_row', reason, content);
  const spill = decodeSpill(content);
  const [row, ...others] = spill.kind === 'spill' ? spill.rows : [];
  if (!row || others.length > 0) return letter;
  const ids =
    row.kind === 'webhook'
      ? { projectId: row.log.projectId, webhookLogId: row.log.id, endpointId: null }
      : row.attempt;
  // Postgres may have refused the row because an id is not a UUID.
  const uuidOrNull = (id: string | null) => (id !== null && isUuid(id) ? id : null);
  return {
    ...letter,
    projectId: uuidOrNull(ids.projectId),
    webhookLogId: uuidOrNull(ids.webhookLogId),
    endpointId: uuidOrNull(ids.endpointId),
  };
}

function bytesLetter(kind: 'message' | 'audit_row', reason: string, content: Buffer): NewDeadLetter {
  const noIds = { projectId: null, webhookLogId: null, endpointId: null };
  return { id: idOfBytes(content), kind, reason, ...noIds, content };
}

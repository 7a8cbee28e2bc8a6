import { hash } from 'node:crypto';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { formatReason, type RejectionReason } from '@hqrelay/domain/inbound/rejection-reason';
import { identifyWebhook } from '@hqrelay/domain/inbound/webhook-identity';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import type { InboundRequest, IngestResult, RejectionAnswer } from './inbound-request.ts';
import { logRowOf } from './log-row.ts';
import type { MismatchDiagnoses } from './mismatch-diagnoses.ts';
import type { ProjectBudget } from './project-budget.ts';

export type RefuseDeps = {
  /** Writes a row in the background: no answer waits for it. */
  recordLater: (row: AuditRow) => void;
  mayRecordRejection: ProjectBudget;
  diagnoses: Pick<MismatchDiagnoses, 'add'>;
};

type Refused = { reason: RejectionReason; answer: RejectionAnswer };

/** Records a refused request within the budget of rejections. The same work for every lookup, so that its time reveals none. */
export function refuse(
  deps: RefuseDeps,
  request: InboundRequest,
  found: Exclude<ProjectLookup, { kind: 'unavailable' }>,
  refused: Refused,
): IngestResult {
  const projectId = found.kind === 'found' ? request.projectId : null;
  const isRecorded = deps.mayRecordRejection(projectId, request.receivedAt);
  if (isRecorded) {
    const reason = reasonOf(found, refused.reason);
    const row = rejectedRowOf(request, reason);
    const isDiagnosed =
      found.kind === 'found' &&
      reason.code === 'signature.mismatch' &&
      deps.diagnoses.add(row.log, { project: found.project, request });
    if (!isDiagnosed) deps.recordLater(row);
  }
  return { ...refused.answer, isRecorded };
}

function reasonOf(found: Exclude<ProjectLookup, { kind: 'unavailable' }>, reason: RejectionReason) {
  if (found.kind === 'unknown') return { code: 'project.unknown' } as const;
  return found.project.enabled ? reason : ({ code: 'project.disabled' } as const);
}

function rejectedRowOf(request: InboundRequest, reason: RejectionReason) {
  const payloadSha256 = hash('sha256', request.body);
  const { webhookId } = identifyWebhook({ headers: request.headers, bodySha256Hex: payloadSha256 });
  const log = logRowOf({ request, webhookId, eventType: null, payloadSha256 }, 'rejected');
  return { kind: 'webhook' as const, log: { ...log, reason: formatReason(reason) }, payload: null };
}

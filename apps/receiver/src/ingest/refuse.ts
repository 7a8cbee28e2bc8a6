import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { formatReason, type RejectionReason } from '@hqrelay/domain/inbound/rejection-reason';
import { genericIdentity } from '@hqrelay/domain/providers/generic';
import { identify } from '@hqrelay/domain/providers/identify';
import { viewOf } from '@hqrelay/domain/providers/request/request-view';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import { equaliseWork } from './equal-work.ts';
import type { InboundRequest, IngestResult, RejectionAnswer } from './inbound-request.ts';
import { logRowOf } from './log-row.ts';
import type { MismatchDiagnoses } from './mismatch-diagnoses.ts';
import type { ProjectBudget } from '../limits/project-budget.ts';

export type RefuseDeps = {
  secrets: OpenedSecrets;
  /** Writes a row in the background: no answer waits for it. */
  recordLater: (row: AuditRow) => void;
  mayRecordRejection: ProjectBudget;
  diagnoses: Pick<MismatchDiagnoses, 'add'>;
};

type Refused = { reason: RejectionReason; answer: RejectionAnswer };
type Found = Exclude<ProjectLookup, { kind: 'unavailable' }>;

/**
 * Answers a refused request after the same work for every project and for none, and records it within the budget of
 * rejections. The row is made after the answer: a flood can use up the budget of unknown ids, and then only a project has rows.
 */
export function refuse(
  deps: RefuseDeps,
  request: InboundRequest,
  found: Found,
  refused: Refused,
): IngestResult {
  const isTried = found.kind === 'found' && found.project.enabled;
  const tried = isTried ? deps.secrets.ofProject(found.project, request.receivedAt).length : 0;
  equaliseWork(refused.reason.code, tried, request.body);
  const projectId = found.kind === 'found' ? request.projectId : null;
  const isRecorded = deps.mayRecordRejection(projectId, request.receivedAt);
  if (isRecorded) setImmediate(() => record(deps, request, found, reasonOf(found, refused.reason)));
  return { ...refused.answer, isRecorded };
}

function record(deps: RefuseDeps, request: InboundRequest, found: Found, reason: RejectionReason): void {
  const row = rejectedRowOf(request, reason);
  const isDiagnosed =
    found.kind === 'found' &&
    reason.code === 'signature.mismatch' &&
    deps.diagnoses.add(row.log, { project: found.project, request });
  if (!isDiagnosed) deps.recordLater(row);
}

function reasonOf(found: Found, reason: RejectionReason) {
  if (found.kind === 'unknown') return { code: 'project.unknown' } as const;
  return found.project.enabled ? reason : ({ code: 'project.disabled' } as const);
}

/** Of the headers alone: a body that is not verified is not parsed. */
const unverifiedIdentity = { webhookId: genericIdentity.webhookId, eventType: [], orderingKey: [] };

function rejectedRowOf(request: InboundRequest, reason: RejectionReason) {
  const view = viewOf(request);
  const payloadSha256 = view.bodySha256Hex();
  const { webhookId } = identify(unverifiedIdentity, {}, view);
  const log = logRowOf({ request, webhookId, eventType: null, payloadSha256 }, 'rejected');
  return { kind: 'webhook' as const, log: { ...log, reason: formatReason(reason) }, payload: null };
}

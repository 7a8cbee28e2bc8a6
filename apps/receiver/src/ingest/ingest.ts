import { hash } from 'node:crypto';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { findCredentials } from '@hqrelay/domain/inbound/forwarded-credentials';
import { keepHeaders } from '@hqrelay/domain/inbound/forwarded-headers';
import { owedEndpoints } from '@hqrelay/domain/inbound/owed-endpoints';
import { eventTypeOf, identifyWebhook } from '@hqrelay/domain/inbound/webhook-identity';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import { admitWebhook, type AdmitDeps, type Admitted } from '../reservation/admit.ts';
import type { InboundRequest, IngestResult, VerifiedWebhook } from './inbound-request.ts';
import { logRowOf, payloadRowOf } from './log-row.ts';
import { makeDurable, type MakeDurableDeps } from './make-durable.ts';
import { verify, type VerifyDeps } from './verify.ts';

export type IngestDeps = VerifyDeps &
  AdmitDeps &
  MakeDurableDeps & {
    findProject: (projectId: string, now: number) => ProjectLookup | Promise<ProjectLookup>;
    /** Writes a row that no answer waits for. */
    recordLater: (row: AuditRow) => void;
    /** Whether one more row of a request that is not authenticated may be written now. */
    mayRecordRejection: (now: number) => boolean;
  };

/** Steps 2 to 6 of the receiver in architecture.md. Never rejects for anything a sender or a store does. */
export async function ingest(deps: IngestDeps, request: InboundRequest): Promise<IngestResult> {
  const found = await deps.findProject(request.projectId, request.receivedAt);
  if (found.kind === 'unavailable') {
    return {
      kind: 'unavailable',
      code: 'project.unavailable',
      message: 'The project cannot be looked up right now',
    };
  }
  const project = found.kind === 'found' && found.project.enabled ? found.project : null;
  const payloadSha256 = hash('sha256', request.body);

  const verdict = verify(deps, project, request);
  if (verdict.kind !== 'verified') {
    if (deps.mayRecordRejection(request.receivedAt)) {
      const webhook = {
        request,
        webhookId: identityOf(request, payloadSha256),
        eventType: null,
        payloadSha256,
      };
      deps.recordLater({
        kind: 'webhook',
        log: { ...logRowOf(webhook, 'rejected'), reason: verdict.reason },
        payload: null,
      });
    }
    return verdict.answer;
  }

  const webhook: VerifiedWebhook = {
    request,
    project: verdict.project,
    webhookId: identityOf(request, payloadSha256),
    eventType: eventTypeOf({ headers: request.headers, json: verdict.json }),
    payloadSha256,
    headers: keepHeaders(request.rawHeaders),
    credentials: findCredentials(
      request.rawHeaders,
      deps.secrets.ofProject(verdict.project, request.receivedAt),
    ),
  };

  const admission = await admitWebhook(deps, webhook);
  switch (admission.kind) {
    case 'seen':
      return answerSeen(deps, webhook, admission);
    case 'rate_limited':
      if (admission.logRow) recordOutcomeLater(deps, webhook, 'rate_limited', { reason: 'rate limit' });
      return { kind: 'rate_limited', retryAfterMs: admission.retryAfterMs };
    case 'undecided':
      recordOutcomeLater(deps, webhook, 'failed_to_queue', {
        reason: 'an earlier request with this id is still undecided',
        duplicateOf: admission.id,
      });
      return {
        kind: 'unavailable',
        code: 'webhook.undecided',
        message: 'An earlier request with this id is still being worked on',
      };
    case 'admitted': {
      const endpointIds = await endpointsOf(deps, webhook, admission);
      const outcome = await makeDurable(deps, webhook, admission, endpointIds);
      if (outcome.kind === 'durable') {
        admission.settle('seen');
        if (!admission.known) return { kind: 'queued', id: admission.id };
        recordOutcomeLater(deps, webhook, 'duplicate', { duplicateOf: admission.id });
        return { kind: 'replayed', id: admission.id };
      }
      admission.settle('failed');
      recordOutcomeLater(deps, webhook, 'failed_to_queue', {
        reason: outcome.reason,
        duplicateOf: admission.id,
      });
      return {
        kind: 'unavailable',
        code: 'webhook.not_queued',
        message: 'The webhook could not be made durable; send it again',
      };
    }
  }
}

/** Fixed when it was first accepted: what has been added or taken away since then is not the webhook's. */
async function endpointsOf(
  { postgresClaims }: IngestDeps,
  { project, eventType }: VerifiedWebhook,
  { id, copy }: Admitted,
): Promise<string[]> {
  const owed = copy && (await postgresClaims.findOwed(id));
  return owed || owedEndpoints(project.endpoints, eventType);
}

function answerSeen(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  seen: { id: string; sameBody: boolean; logRow: boolean },
): IngestResult {
  if (seen.sameBody || webhook.project.onConflict === 'duplicate') {
    if (seen.logRow) recordOutcomeLater(deps, webhook, 'duplicate', { duplicateOf: seen.id });
    return { kind: 'replayed', id: seen.id };
  }
  if (seen.logRow) {
    // Kept with its bytes: it was signed, so it says something, and nobody else has it.
    const log = {
      ...logRowOf(webhook, 'conflict'),
      reason: 'the same id came with another body',
      duplicateOf: seen.id,
    };
    deps.recordLater({ kind: 'webhook', log, payload: payloadRowOf(webhook) });
  }
  return { kind: 'conflict', id: seen.id };
}

function recordOutcomeLater(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  status: 'duplicate' | 'rate_limited' | 'failed_to_queue',
  fields: { reason?: string; duplicateOf?: string },
): void {
  deps.recordLater({ kind: 'webhook', log: { ...logRowOf(webhook, status), ...fields }, payload: null });
}

function identityOf(request: InboundRequest, payloadSha256: string): string {
  return identifyWebhook({ headers: request.headers, bodySha256Hex: payloadSha256 }).webhookId;
}

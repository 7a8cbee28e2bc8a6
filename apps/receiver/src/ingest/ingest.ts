import type { Cache } from '@hqrelay/cache/client';
import { isFirstConflict } from '@hqrelay/cache/conflict-payload';
import type { WebhookLogRow } from '@hqrelay/db/queries/append-audit';
import { bodyKeyOf, signatureKeyOf } from '@hqrelay/domain/inbound/content-keys';
import { findCredentials } from '@hqrelay/domain/inbound/forwarded-credentials';
import { sortHeaders } from '@hqrelay/domain/inbound/forwarded-headers';
import { orderingKeysOf } from '@hqrelay/domain/inbound/ordering-key';
import { formatReason } from '@hqrelay/domain/inbound/rejection-reason';
import { identify } from '@hqrelay/domain/providers/identify';
import { maskSecrets } from '@hqrelay/domain/secrets/mask-secrets';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import { reserve, type Admitted, type ReserveDeps, type ReserveResult } from '../reservation/reserve.ts';
import { idFor, type InboundRequest, type IngestResult, type VerifiedWebhook } from './inbound-request.ts';
import { logRowOf, payloadRowOf } from './log-row.ts';
import { makeDurable, type DurableOutcome, type MakeDurableDeps } from './make-durable.ts';
import { refuse, type RefuseDeps } from './refuse.ts';
import { inTurn } from '../limits/large-bodies.ts';
import type { ThinnedRows } from '../limits/thinned-rows.ts';
import { answerHandshakeOf } from './answer-challenge.ts';
import { verify, type VerifiedRequest, type VerifyDeps } from './verify.ts';

export type IngestDeps = VerifyDeps &
  ReserveDeps &
  MakeDurableDeps &
  RefuseDeps & {
    cache: Cache;
    findProject: (projectId: string, now: number) => ProjectLookup | Promise<ProjectLookup>;
    /** Whether this process has the project in memory. */
    isKnownProject: (projectId: string) => boolean;
    thinned: Pick<ThinnedRows, 'add'>;
  };

/** Steps 2 to 7 of the receiver in architecture.md. Never rejects for anything a sender or a store does. */
export async function ingest(deps: IngestDeps, request: InboundRequest): Promise<IngestResult> {
  const looked = deps.findProject(request.projectId, request.receivedAt);
  const found = looked instanceof Promise ? await looked : looked;
  if (found.kind === 'unavailable') return projectUnavailable;

  const verified = verifyWebhook(deps, request, found);
  if (verified.kind !== 'webhook') return verified;

  const { webhook } = verified;
  const reserved = await reserve(deps, keyRequestOf(webhook));
  if (reserved.kind === 'conflict') return answerConflict(deps, webhook, reserved);
  if (reserved.kind !== 'admitted') return answerUnadmitted(deps, webhook, reserved);

  const outcome = await inTurn(request, () => makeDurable(deps, webhook, reserved));
  return outcome.kind === 'durable'
    ? acceptWebhook(deps, webhook, reserved)
    : releaseWebhook(deps, webhook, reserved, outcome);
}

const projectUnavailable: IngestResult = {
  kind: 'unavailable',
  code: 'project.unavailable',
  message: 'The project cannot be looked up right now',
};

/** Step 3. A function of its own: what it parses of a body is garbage when it returns, not when the request is answered. */
function verifyWebhook(
  deps: IngestDeps,
  request: InboundRequest,
  found: Exclude<ProjectLookup, { kind: 'unavailable' }>,
): { kind: 'webhook'; webhook: VerifiedWebhook } | IngestResult {
  const project = found.kind === 'found' && found.project.enabled ? found.project : null;
  const verification = verify(deps, project, request);
  const isSigned = verification.kind === 'verified';
  const reply = project && answerHandshakeOf(deps, project, request, { isSigned });
  if (reply) return { kind: 'handshake', reply };
  if (verification.kind === 'refused') return refuse(deps, request, found, verification);
  return { kind: 'webhook', webhook: webhookOf(request, verification) };
}

function webhookOf(
  request: InboundRequest,
  { project, provider, keys, view, check }: VerifiedRequest,
): VerifiedWebhook {
  const payloadSha256 = view.bodySha256Hex();
  const { secrets } = keys;
  const { webhookId, eventType } = identify(provider.preset, keys.settings, view);
  const { kept: headers, hasCredentials } = sortHeaders(request.rawHeaders, secrets);
  const signatureKey = signatureKeyOf(check, provider.preset);
  return {
    request,
    project,
    accepted: provider.preset.accepted,
    webhookId,
    eventType,
    payloadSha256,
    contentKeys: [
      ...(signatureKey ? [signatureKey] : []),
      ...(project.sameBody === 'duplicate' ? [bodyKeyOf(payloadSha256, project.idempotencyTtlSeconds)] : []),
    ],
    orderingKeysOf: (owed) => orderingKeysOf(project.endpoints, owed, { request, headers }),
    headers,
    query:
      request.query === ''
        ? ''
        : maskSecrets(
            request.query,
            secrets.map(({ key }) => key),
          ),
    credentials: hasCredentials ? findCredentials(request.rawHeaders, secrets) : [],
  };
}

function keyRequestOf({ project, request, webhookId, payloadSha256, contentKeys }: VerifiedWebhook) {
  const { rateLimitPerMinute, idempotencyTtlSeconds, onConflict } = project;
  return {
    projectId: project.id,
    webhookId,
    id: idFor(request),
    payloadSha256,
    rateLimitPerMinute,
    idempotencyTtlSeconds,
    onConflict,
    contentKeys,
  };
}

async function answerConflict(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  { id, hasOwnRow }: { id: string; hasOwnRow: boolean },
): Promise<IngestResult> {
  const log = { ...logRowOf(webhook, 'conflict'), reason: 'webhook.conflict', duplicateOf: id };
  if (hasOwnRow) {
    const { project, webhookId, payloadSha256 } = webhook;
    const { idempotencyTtlSeconds } = project;
    const body = { projectId: project.id, webhookId, payloadSha256, idempotencyTtlSeconds };
    // The body is signed and stored nowhere else, so its bytes are stored with the first row.
    const payload = (await isFirstConflict(deps.cache, body)) ? payloadRowOf(webhook) : null;
    deps.recordLater({ kind: 'webhook', log, payload });
  } else {
    deps.thinned.add(log);
  }
  return { kind: 'conflict', id };
}

function answerUnadmitted(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  reserved: Exclude<ReserveResult, Admitted | { kind: 'conflict' }>,
): IngestResult {
  switch (reserved.kind) {
    case 'duplicate':
      recordRepeat(deps, reserved, { ...logRowOf(webhook, 'duplicate'), duplicateOf: reserved.id });
      return { kind: 'replayed', id: reserved.id, accepted: webhook.accepted };
    case 'rate_limited':
      recordRepeat(deps, reserved, {
        ...logRowOf(webhook, 'rate_limited'),
        reason: 'project.rate_limited',
      });
      return { kind: 'rate_limited', retryAfterMs: reserved.retryAfterMs };
    case 'undecided':
      recordOutcome(deps, webhook, 'failed_to_queue', {
        reason: 'webhook.undecided',
        duplicateOf: reserved.id,
      });
      return {
        kind: 'unavailable',
        code: 'webhook.undecided',
        message: 'An earlier request for this webhook is still in progress',
      };
  }
}

function recordRepeat(deps: IngestDeps, { hasOwnRow }: { hasOwnRow: boolean }, log: WebhookLogRow): void {
  if (hasOwnRow) deps.recordLater({ kind: 'webhook', log, payload: null });
  else deps.thinned.add(log);
}

function acceptWebhook(deps: IngestDeps, webhook: VerifiedWebhook, admitted: Admitted): IngestResult {
  admitted.accept();
  const { accepted } = webhook;
  if (!admitted.isReplay) return { kind: 'queued', id: admitted.id, accepted };
  recordOutcome(deps, webhook, 'duplicate', { duplicateOf: admitted.id });
  return { kind: 'replayed', id: admitted.id, accepted };
}

function releaseWebhook(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  admitted: Admitted,
  { reason }: Extract<DurableOutcome, { kind: 'failed' }>,
): IngestResult {
  admitted.release();
  const fields = {
    reason: formatReason({ code: 'webhook.not_queued', words: reason }),
    duplicateOf: admitted.id,
  };
  recordOutcome(deps, webhook, 'failed_to_queue', fields);
  return {
    kind: 'unavailable',
    code: 'webhook.not_queued',
    message: 'The webhook could not be made durable; send it again',
  };
}

function recordOutcome(
  deps: IngestDeps,
  webhook: VerifiedWebhook,
  status: 'duplicate' | 'failed_to_queue',
  fields: { reason?: string; duplicateOf?: string },
): void {
  deps.recordLater({ kind: 'webhook', log: { ...logRowOf(webhook, status), ...fields }, payload: null });
}

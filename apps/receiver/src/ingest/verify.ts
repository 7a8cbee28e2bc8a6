import type { RejectionReason } from '@hqrelay/domain/inbound/rejection-reason';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { genericScheme } from '@hqrelay/domain/providers/generic';
import { genericProvider, providerOf, type Provider } from '@hqrelay/domain/providers/provider-of';
import { viewOf, type RequestView } from '@hqrelay/domain/providers/request/request-view';
import {
  judgeForm,
  verifyRequest,
  type ProjectKeys,
  type SignatureCheck,
} from '@hqrelay/domain/providers/signature/verify-request';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { InboundRequest, RejectionAnswer } from './inbound-request.ts';
import { isJsonType } from './is-json-type.ts';

export type VerifyDeps = {
  secrets: OpenedSecrets;
  /** Called with the secret that verified the signature. */
  onVerified: (secretId: string, projectId: string, now: number) => void;
};

export type VerifiedRequest = {
  kind: 'verified';
  project: ProjectConfig;
  provider: Provider;
  keys: Required<ProjectKeys>;
  view: RequestView;
  check: Extract<SignatureCheck, { kind: 'verified' }>;
};

export type Verification =
  VerifiedRequest | { kind: 'refused'; reason: RejectionReason; answer: RejectionAnswer };

/**
 * Step 3: verifies the request as its provider signs. A project that is unknown or disabled is treated as a generic project
 * without a secret, so that neither the answer nor its time tells which projects exist.
 */
export function verify(
  deps: VerifyDeps,
  project: ProjectConfig | null,
  request: InboundRequest,
): Verification {
  const provider = project ? providerOf(project) : genericProvider;
  const keys = project ? keysOf(deps.secrets, project, request.receivedAt) : { secrets: [], settings: {} };
  const view = viewOf(request);
  const check = verifyRequest(provider.schemes, keys, view, request.receivedAt);
  if (check.kind !== 'verified') return refuseAs(provider, keys, view, check);
  // Without a project there is no secret, so nothing verifies.
  if (!project) return unauthorized({ code: 'project.unknown' });
  if (check.secretId !== null) deps.onVerified(check.secretId, project.id, request.receivedAt);
  if (!provider.preset.acceptsUnparsable && isBrokenJson(view)) {
    return badRequest({ code: 'body.not_json' }, 'The body is declared as JSON but does not parse');
  }
  return { kind: 'verified', project, provider, keys, view, check };
}

/** What the requests of a project are verified with at `now`. */
export function keysOf(secrets: OpenedSecrets, project: ProjectConfig, now: number): Required<ProjectKeys> {
  return { secrets: secrets.ofProject(project, now), settings: secrets.settingsOf(project) };
}

function refuseAs(
  provider: Provider,
  keys: ProjectKeys,
  view: RequestView,
  check: Exclude<SignatureCheck, { kind: 'verified' }>,
): Verification {
  const reason = reasonOf(keys, check);
  // A stale request has a right signature: its sender knows the project.
  if (check.kind === 'stale') return badRequest(reason, check.message);
  const asUnknown = provider.schemes === genericProvider.schemes ? check : judgeForm(genericScheme, view);
  if (asUnknown.kind !== 'malformed') return unauthorized(reason);
  const { message } = asUnknown;
  return { kind: 'refused', reason, answer: { kind: 'bad_request', code: 'signature.malformed', message } };
}

function reasonOf(
  { secrets }: ProjectKeys,
  check: Exclude<SignatureCheck, { kind: 'verified' }>,
): RejectionReason {
  switch (check.kind) {
    case 'missing':
      return { code: 'signature.missing', words: check.message };
    case 'malformed':
      return { code: 'signature.malformed', words: check.message };
    case 'stale':
      return { code: 'timestamp.stale', words: check.message };
    case 'mismatch': {
      const words = secrets.length === 0 ? 'the project has no active secret' : check.message;
      return { code: 'signature.mismatch', words };
    }
  }
}

function unauthorized(reason: RejectionReason): Verification {
  return { kind: 'refused', reason, answer: { kind: 'unauthorized' } };
}

function badRequest(reason: RejectionReason, message: string): Verification {
  return { kind: 'refused', reason, answer: { kind: 'bad_request', code: reason.code, message } };
}

function isBrokenJson(view: RequestView): boolean {
  const encoding = view.headers('content-encoding');
  if (encoding && encoding.toLowerCase() !== 'identity') return false;
  const contentType = view.headers('content-type');
  return contentType !== undefined && isJsonType(contentType) && view.json() === undefined;
}

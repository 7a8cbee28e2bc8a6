import { signatureKeyOf, type ContentKey } from '@hqrelay/domain/inbound/content-keys';
import type { RejectionReason } from '@hqrelay/domain/inbound/rejection-reason';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import {
  genericScheme,
  genericTimestampScheme,
  verifySignature,
  type SignatureScheme,
} from '@hqrelay/domain/inbound/signature';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { InboundRequest, RejectionAnswer } from './inbound-request.ts';

export type VerifyDeps = {
  secrets: OpenedSecrets;
  /** Called with the secret that verified the signature. */
  onVerified: (secretId: string, projectId: string, now: number) => void;
};

export type Verification =
  | { kind: 'verified'; project: ProjectConfig; json: unknown; signatureKey: ContentKey | null }
  | { kind: 'refused'; reason: RejectionReason; answer: RejectionAnswer };

/**
 * Step 3: verifies the signature, and parses the body only after that. A project that is unknown or disabled is treated as
 * a generic project without a secret, so that neither the answer nor its time tells which projects exist.
 */
export function verify(
  deps: VerifyDeps,
  project: ProjectConfig | null,
  request: InboundRequest,
): Verification {
  const secrets = project ? deps.secrets.ofProject(project, request.receivedAt) : [];
  const scheme = project ? schemeOf(project) : genericScheme;
  const verdict = verifySignature(scheme, secrets, request, request.receivedAt);
  switch (verdict.kind) {
    case 'missing':
      return unauthorized({ code: 'signature.missing', words: `no header ${scheme.header}` });
    case 'mismatch': {
      const words = secrets.length === 0 ? 'the project has no active secret' : verdict.message;
      return unauthorized({ code: 'signature.mismatch', words });
    }
    case 'malformed':
      return badRequest({ code: 'signature.malformed', words: verdict.message }, verdict.message);
    case 'stale':
      return badRequest({ code: 'timestamp.stale', words: verdict.message }, verdict.message);
    case 'verified': {
      // Without a project there is no secret, so nothing verifies.
      if (!project) return unauthorized({ code: 'project.unknown' });
      deps.onVerified(verdict.secretId, project.id, request.receivedAt);
      const parsed = parseJson(request);
      return parsed.ok
        ? { kind: 'verified', project, json: parsed.json, signatureKey: signatureKeyOf(scheme, verdict.mac) }
        : badRequest({ code: 'body.not_json' }, 'The body is declared as JSON but does not parse');
    }
  }
}

export function schemeOf(project: ProjectConfig): SignatureScheme {
  return project.scheme ?? (project.requireTimestamp ? genericTimestampScheme : genericScheme);
}

function unauthorized(reason: RejectionReason): Verification {
  return { kind: 'refused', reason, answer: { kind: 'unauthorized' } };
}

function badRequest(reason: RejectionReason, message: string): Verification {
  return { kind: 'refused', reason, answer: { kind: 'bad_request', code: reason.code, message } };
}

const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A body of another type is parsed for its event type if it looks like JSON, and is no error if it is not. */
function parseJson(request: InboundRequest): { ok: true; json: unknown } | { ok: false } {
  const encoding = request.headers('content-encoding');
  if (encoding && encoding.toLowerCase() !== 'identity') return { ok: true, json: undefined };
  const contentType = request.headers('content-type');
  const declared = contentType !== undefined && jsonType.test(contentType);
  if (!declared && !looksLikeObject(request.body)) return { ok: true, json: undefined };
  try {
    const text = request.body.toString('utf8');
    return { ok: true, json: JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text) };
  } catch {
    return declared ? { ok: false } : { ok: true, json: undefined };
  }
}

function looksLikeObject(body: Buffer): boolean {
  return body[0] === 0x7b;
}

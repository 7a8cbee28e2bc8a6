import { originalsOf } from './altered-body.ts';
import type { RejectionReason } from './rejection-reason.ts';
import { viewOf, type ProviderRequest } from '../providers/request/request-view.ts';
import type { Scheme } from '../providers/scheme.ts';
import { verifyRequest } from '../providers/signature/verify-request.ts';

type Key = { id: string; key: string };

export type MismatchedRequest = {
  schemes: readonly Scheme[];
  settings: Readonly<Record<string, string>>;
  request: ProviderRequest;
  /** ms since epoch. */
  receivedAt: number;
  active: readonly Key[];
  /** Secrets that have expired or were revoked, at `retiredAt` in ms since epoch. */
  retired: readonly (Key & { how: 'expired' | 'revoked'; retiredAt: number })[];
};

/**
 * Why a signature matches no active secret: a retired secret made it, or it is the signature of another spelling of the body.
 * Undefined when neither explains it. The work grows with the body and the number of secrets: callers bound both.
 */
export function diagnoseMismatch({
  schemes,
  settings,
  request,
  receivedAt,
  active,
  retired,
}: MismatchedRequest): RejectionReason | undefined {
  const isSignedWith = (keys: readonly Key[], body: Buffer) => {
    const view = viewOf({ ...request, body });
    const { kind } = verifyRequest(schemes, { secrets: keys, settings }, view, receivedAt);
    return kind === 'verified' || kind === 'stale';
  };
  for (const secret of retired) {
    if (!isSignedWith([secret], request.body)) continue;
    const words = `the secret ${secret.id} ${wasRetired(secret)}`;
    return { code: 'signature.retired_secret', words };
  }
  if (active.length === 0) return undefined;
  for (const { alteration, body } of originalsOf(request.body)) {
    if (isSignedWith(active, body)) return { code: 'body.altered', words: alteration };
  }
  return undefined;
}

function wasRetired({ how, retiredAt }: { how: 'expired' | 'revoked'; retiredAt: number }): string {
  return `${how === 'revoked' ? 'was revoked' : 'expired'} at ${new Date(retiredAt).toISOString()}`;
}

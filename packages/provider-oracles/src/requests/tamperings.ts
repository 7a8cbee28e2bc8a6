import type { ProviderCase, ProviderRequest, Variant } from '../provider-case.ts';
import { bodyOf, signedRequest } from './signed-request.ts';

export type Verdict = 'verified' | 'mismatch' | 'missing' | 'stale';

/** A request that differs from what the provider signed, or that only looks as if it did. */
export type Tampering = {
  name: string;
  request: ProviderRequest;
  /** The secret that the receiver verifies with. */
  secret: string;
  verdict: Verdict;
};

const byteNotUtf8 = 'a byte that is not UTF-8';
const byteForReplacement = 'a byte that is not UTF-8 in place of U+FFFD';

/**
 * The mistakes of a package that hashes the body as text: every byte that is not UTF-8 becomes U+FFFD before it is hashed, so
 * that a genuine body is rejected and an altered one accepted.
 */
export const hashesText: readonly string[] = [byteNotUtf8, byteForReplacement];

export const oldRequest = 'an old timestamp';

/** Every tampering that means something for the variant, each with the verdict that the relay owes. */
export async function tamperingsOf(
  { secret, otherSecret }: ProviderCase,
  variant: Variant,
  at: number,
): Promise<Tampering[]> {
  const request = await signedRequest(variant, { secret, at });
  const of = (name: string, verdict: Verdict, tampered: ProviderRequest) => ({
    name,
    verdict,
    secret,
    request: tampered,
  });
  const list: Tampering[] = [];
  if (variant.unsign) list.push(of('no signature', 'missing', variant.unsign(request)));
  if (variant.covers !== 'nothing') {
    list.push({ ...of('another secret', 'mismatch', request), secret: otherSecret });
  }
  if (variant.covers === 'body') list.push(...(await bodyTamperings()));
  if (variant.covered) list.push(of('a signed field', 'mismatch', replaced(request, variant.covered)));
  if (variant.uncovered)
    list.push(of('a field not signed', 'verified', replaced(request, variant.uncovered)));
  if (variant.several) {
    const other = await signedRequest(variant, { secret: otherSecret, at });
    list.push(of('one right signature of several', 'verified', variant.several(request, other)));
  }
  const age = (variant.toleranceSeconds ?? 86_400) + 60;
  const old = await signedRequest(variant, { secret, at: at - age * 1_000 });
  list.push(of(oldRequest, variant.toleranceSeconds === undefined ? 'verified' : 'stale', old));
  return list;

  async function bodyTamperings(): Promise<Tampering[]> {
    const notUtf8 = withBytes(bodyOf(variant, at), Buffer.from([0xff]));
    const replacement = withBytes(bodyOf(variant, at), Buffer.from('\ufffd'));
    const signedReplacement = await signedRequest(variant, { secret, at, body: replacement });
    return [
      of('a byte of the body', 'mismatch', { ...request, body: withOtherByte(request.body) }),
      of('reordered JSON', 'mismatch', { ...request, body: reordered(request.body) }),
      of(
        byteNotUtf8,
        variant.hasTimeInBody ? 'mismatch' : 'verified',
        await signedRequest(variant, { secret, at, body: notUtf8 }),
      ),
      of(byteForReplacement, 'mismatch', { ...signedReplacement, body: notUtf8 }),
    ];
  }
}

/** The body with more bytes before its last quote: inside a string. */
function withBytes(body: Buffer, bytes: Buffer): Buffer {
  const at = body.lastIndexOf('"');
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
}

function withOtherByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const at = body.indexOf(':"') + 2;
  changed[at] = changed[at]! ^ 1;
  return changed;
}

/** The same JSON with the members of each object in reverse order. */
function reordered(body: Buffer): Buffer {
  return Buffer.from(
    JSON.stringify(JSON.parse(body.toString()), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toReversed())
        : value,
    ),
  );
}

function replaced(request: ProviderRequest, [from, to]: readonly [string, string]): ProviderRequest {
  const text = request.body.toString();
  if (!text.includes(from)) throw new Error(`the body has no ${from}`);
  return { ...request, body: Buffer.from(text.replace(from, to)) };
}

import { decodeExactly } from './decode-key.ts';
import { readSource, type Reading } from '../request/read-source.ts';
import type { SignedScheme } from '../scheme.ts';
import { renderText } from '../request/template.ts';

export type GivenSignatures =
  | { kind: 'missing' }
  | { kind: 'malformed' }
  | { kind: 'given'; signatures: Buffer[]; items: ReadonlyMap<string, string> };

/** More are ignored, so that a request makes a bounded amount of work. */
const signaturesMax = 16;

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** Every signature of the request that has the scheme's form, and the tagged items beside them. */
export function parseSignatures(scheme: SignedScheme, reading: Reading): GivenSignatures {
  const texts = signatureTexts(scheme, reading);
  if (texts.length === 0) return { kind: 'missing' };
  const items = new Map<string, string>();
  const signatures: Buffer[] = [];
  for (const text of texts) {
    const encoded = encodedPart(scheme, reading, text, items);
    const signature = encoded === undefined ? undefined : decodeSignature(scheme, encoded);
    if (signature) signatures.push(signature);
  }
  return signatures.length > 0 ? { kind: 'given', signatures, items } : { kind: 'malformed' };
}

/** The form that a signature has, for people. */
export function shapeOf(scheme: SignedScheme): string {
  const { pair, prefix = '' } = scheme.signature;
  const bytes = signatureBytes(scheme);
  const tag = pair ? pair.tag + pair.separator : '';
  return `${tag}${prefix}<${scheme.encoding}${bytes ? ` of ${bytes} bytes` : ''}>`;
}

function signatureTexts({ signature: { from, list } }: SignedScheme, reading: Reading): string[] {
  const values = from.endsWith('-*') ? numbered(reading, from.slice(0, -1)) : [readSource(reading, from)];
  const texts = values.filter((value) => value !== undefined && value !== '') as string[];
  if (list === undefined) return texts;
  return texts
    .flatMap((text) => text.split(list, signaturesMax))
    .slice(0, signaturesMax)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function numbered(reading: Reading, start: string): (string | undefined)[] {
  return Array.from({ length: signaturesMax }, (_, index) => readSource(reading, `${start}${index + 1}`));
}

/** The encoded signature in an item of the list; undefined for another item, whose value is remembered under its tag. */
function encodedPart(
  { signature: { pair, prefix, prefixOptional } }: SignedScheme,
  reading: Reading,
  text: string,
  items: Map<string, string>,
): string | undefined {
  let rest = text;
  if (pair) {
    const end = text.indexOf(pair.separator);
    if (end === -1) return undefined;
    const tag = text.slice(0, end);
    rest = text.slice(end + 1);
    if (tag !== renderText(pair.tag, { ...reading })) {
      items.set(tag, rest);
      return undefined;
    }
  }
  if (prefix === undefined) return rest;
  if (rest.startsWith(prefix)) return rest.slice(prefix.length);
  return prefixOptional ? rest : undefined;
}

function decodeSignature(scheme: SignedScheme, encoded: string): Buffer | undefined {
  const signature = decodeExactly(encoded, scheme.encoding);
  const bytes = signatureBytes(scheme);
  return signature && (bytes === undefined ? signature.length > 0 : signature.length === bytes)
    ? signature
    : undefined;
}

/** Undefined where signatures differ in length. */
function signatureBytes(scheme: SignedScheme): number | undefined {
  if (scheme.kind === 'hmac') return digestBytes[scheme.alg];
  return scheme.kind === 'ed25519' ? 64 : undefined;
}

import { connectionHeaders, namedByConnection } from '../connection-headers.ts';
import { isCredential } from './forwarded-headers.ts';

/** Where a secret of the project stood in a credential header: the text around it, never the secret. */
export type CredentialPlace = {
  /** In the sender's spelling. */
  name: string;
  secretId: string;
  before: string;
  after: string;
  /** Whether the header had the secret in base64, as `user:password` in `Basic`. */
  base64?: boolean | undefined;
};

type Secret = { id: string; key: string };

const placesMax = 8;

/**
 * The text around a secret that may be stored: a scheme (`Bearer `), a parameter's name (`token=`), a quote. Other text
 * could itself be part of a credential.
 */
const textBefore = /^(?:[A-Za-z][A-Za-z-]{0,19} )?(?:(?:token|key|api[_-]?key|access_token|secret)=)?"?$/i;
const textAfter = /^"?$/;

/**
 * Finds the active secrets of a project in the credential headers of a webhook, given as Node's `rawHeaders`. A credential
 * that is not a secret of the project, or has other text around it, is not found and is never forwarded.
 */
export function findCredentials(
  rawHeaders: readonly string[],
  secrets: readonly Secret[],
): CredentialPlace[] {
  const places: CredentialPlace[] = [];
  let named: ReadonlySet<string> | undefined;
  for (let i = 0; i + 1 < rawHeaders.length && places.length < placesMax; i += 2) {
    const name = rawHeaders[i]!;
    const lowerCaseName = name.toLowerCase();
    const value = rawHeaders[i + 1]!;
    if (connectionHeaders.has(lowerCaseName) || !isCredential(lowerCaseName, value, secrets)) continue;
    named ??= namedByConnection(rawHeaders);
    if (lowerCaseName === 'proxy-authorization' || named.has(lowerCaseName)) continue;
    const place = placeIn(value, secrets);
    if (place) places.push({ name, ...place });
  }
  return places;
}

/**
 * Rebuilds the credential headers. A secret that has been rotated out is replaced by the first of `secrets`, the newest, which
 * the endpoint expects by now. Without any secret there is no header.
 */
export function restoreCredentials(
  places: readonly CredentialPlace[],
  secrets: readonly Secret[],
): [string, string][] {
  return places.flatMap(({ name, secretId, before, after, base64 }): [string, string][] => {
    const secret = secrets.find(({ id }) => id === secretId) ?? secrets[0];
    if (!secret) return [];
    const value = base64 ? Buffer.from(secret.key).toString('base64') : onTheWire(secret.key);
    return [[name, before + value + after]];
  });
}

function placeIn(value: string, secrets: readonly Secret[]): Omit<CredentialPlace, 'name'> | undefined {
  for (const { id: secretId, key } of secrets) {
    if (key === '') continue;
    const text = onTheWire(key);
    const start = value.indexOf(text);
    if (start >= 0) {
      const [before, after] = [value.slice(0, start), value.slice(start + text.length)];
      if (textBefore.test(before) && textAfter.test(after)) return { secretId, before, after };
    }
    const basic = /^(Basic +)([A-Za-z0-9+/]+={0,2})$/i.exec(value);
    if (basic && Buffer.from(basic[2]!, 'base64').equals(Buffer.from(key))) {
      return { secretId, before: basic[1]!, after: '', base64: true };
    }
  }
  return undefined;
}

/** Node reads and writes the bytes of a header as Latin-1. */
function onTheWire(key: string): string {
  return Buffer.from(key).toString('latin1');
}

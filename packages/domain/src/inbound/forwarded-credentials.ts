import { connectionHeaders } from '../connection-headers.ts';
import { isCredential } from './forwarded-headers.ts';

/** Where a secret of the project stood in a credential header: what is around it, never the value. */
export type CredentialPlace = {
  /** In the sender's spelling. */
  name: string;
  secretId: string;
  before: string;
  after: string;
  /** The secret stood there in base64, as `user:password` does in `Basic`. */
  base64?: boolean | undefined;
};

type Secret = { id: string; key: string };

const placesMax = 8;

/**
 * What may be kept of the text around a secret: a scheme (`Bearer `), a parameter's name (`token=`), a quote. Anything else
 * could itself be part of a credential.
 */
const textBefore = /^(?:[A-Za-z][A-Za-z-]{0,19} )?(?:(?:token|key|api[_-]?key|access_token|secret)=)?"?$/i;
const textAfter = /^"?$/;

/**
 * Finds the active secrets of a project in the credential headers of a webhook, out of Node's `rawHeaders`. A credential
 * that is no secret of the project, or has other text around it, is not found: it stays off.
 */
export function findCredentials(
  rawHeaders: readonly string[],
  secrets: readonly Secret[],
): CredentialPlace[] {
  const places: CredentialPlace[] = [];
  for (let i = 0; i + 1 < rawHeaders.length && places.length < placesMax; i += 2) {
    const name = rawHeaders[i]!;
    const lowerCaseName = name.toLowerCase();
    const value = rawHeaders[i + 1]!;
    if (!isCredential(lowerCaseName, value, secrets) || isOfConnection(lowerCaseName, rawHeaders)) continue;
    const place = placeIn(value, secrets);
    if (place) places.push({ name, ...place });
  }
  return places;
}

/**
 * The credential headers put together again. A secret that has been rotated out since gives way to the first of `secrets`,
 * the newest: it is what the endpoint expects by now. Without any secret there is no header.
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

/** Node hands over and takes the bytes of a header as Latin-1. */
function onTheWire(key: string): string {
  return Buffer.from(key).toString('latin1');
}

/** Named by `Connection`, it was meant for us alone. */
function isOfConnection(lowerCaseName: string, rawHeaders: readonly string[]): boolean {
  if (connectionHeaders.has(lowerCaseName) || lowerCaseName === 'proxy-authorization') return true;
  return rawHeaders.some((name, i) => {
    if (i % 2 === 1 || name.toLowerCase() !== 'connection') return false;
    const options = rawHeaders[i + 1]!.toLowerCase().split(',');
    return options.some((option) => option.trim() === lowerCaseName);
  });
}

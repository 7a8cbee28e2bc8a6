import { connectionHeaders } from '../connection-headers.ts';
import { holdsSecret } from '../secrets/holds-secret.ts';

/** Headers whose value is a credential: removed on receipt, never stored, queued or logged. In lower case. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  'api-key',
  'apikey',
  'authorization',
  'cf-access-client-secret',
  'cf-access-jwt-assertion',
  'cookie',
  'cookie2',
  'ocp-apim-subscription-key',
  'private-token',
  'proxy-authorization',
  'set-cookie',
  'verif-hash',
  'x-access-token',
  'x-amz-security-token',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-api-key',
  'x-api-secret',
  'x-api-token',
  'x-auth',
  'x-auth-token',
  'x-authorization',
  'x-callback-token',
  'x-client-secret',
  'x-forwarded-access-token',
  'x-forwarded-authorization',
  'x-functions-key',
  'x-gitlab-token',
  'x-goog-channel-token',
  'x-goog-iap-jwt-assertion',
  'x-secret',
  'x-secret-key',
  'x-secret-token',
  'x-telegram-bot-api-secret-token',
  'x-token',
  'x-webhook-secret',
  'x-webhook-token',
]);

/** Whether a header is a credential: by its name, or because its value contains a secret of the project. */
export function isCredential(
  lowerCaseName: string,
  value: string,
  secrets: readonly { key: string }[],
): boolean {
  return credentialHeaders.has(lowerCaseName) || holdsSecret(value, secrets);
}

/**
 * The headers of a webhook that are stored and forwarded, as ordered pairs in the sender's spelling, from Node's
 * `rawHeaders`: all except credentials and those of the connection, including any that `Connection` names.
 */
export function keepHeaders(
  rawHeaders: readonly string[],
  secrets: readonly { key: string }[] = [],
): [string, string][] {
  return sortHeaders(rawHeaders, secrets).kept;
}

/** What `keepHeaders` returns, and whether credentials were among the others. */
export function sortHeaders(
  rawHeaders: readonly string[],
  secrets: readonly { key: string }[],
): { kept: [string, string][]; hasCredentials: boolean } {
  const pairs: [string, string][] = [];
  let hasCredentials = false;
  const named = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    const lowerCaseName = name.toLowerCase();
    if (lowerCaseName === 'connection') {
      for (const option of value.split(',')) named.add(option.trim().toLowerCase());
    }
    if (connectionHeaders.has(lowerCaseName)) continue;
    if (isCredential(lowerCaseName, value, secrets)) hasCredentials = true;
    else pairs.push([name, value]);
  }
  const kept = named.size === 0 ? pairs : pairs.filter(([name]) => !named.has(name.toLowerCase()));
  return { kept, hasCredentials };
}

import { randomBytes } from 'node:crypto';
import { newId } from '@hqrelay/domain/ids';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';

/** A secret in clear, to be printed once, and the row that it is stored in. */
export type NewSecret = { value: string; row: { id: string; keyId: string; sealed: string } };

/** What a provider signs with: `given`, or 32 random bytes in hex. */
export function newProjectSecret(config: { secretsKey: string }, given?: string): NewSecret {
  return newSecret(config, 'project_secrets', given ?? randomBytes(32).toString('hex'));
}

/** What an endpoint's deliveries are signed with. */
export function newEndpointSecret(config: { secretsKey: string }): NewSecret {
  return newSecret(config, 'endpoint_secrets', newSigningSecret());
}

/** An endpoint's fixed headers as its row holds them. */
export function sealHeaders(
  config: { secretsKey: string },
  endpointId: string,
  headers: readonly (readonly [string, string])[],
): { sealedHeaders: string | null; headersKeyId: string | null } {
  if (headers.length === 0) return { sealedHeaders: null, headersKeyId: null };
  const keys = parseSecretKeys(config.secretsKey);
  const { sealed, keyId } = seal(keys, JSON.stringify(headers), `endpoints.headers:${endpointId}`);
  return { sealedHeaders: sealed, headersKeyId: keyId };
}

function newSecret(config: { secretsKey: string }, table: string, value: string): NewSecret {
  const id = newId();
  return { value, row: { id, ...seal(parseSecretKeys(config.secretsKey), value, `${table}:${id}`) } };
}

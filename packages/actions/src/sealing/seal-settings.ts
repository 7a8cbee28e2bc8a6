import type { SealedSettings } from '@hqrelay/db/queries/endpoints';
import type { ClientCertificate } from '@hqrelay/domain/network/endpoint-tls';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';

/** The settings of an endpoint that are stored sealed, in clear. Undefined keeps the stored one, null removes it. */
export type SecretSettings = {
  /** Pairs of name and value. */
  fixedHeaders?: readonly (readonly [string, string])[] | null | undefined;
  clientCertificate?: ClientCertificate | null | undefined;
};

/** The columns of the secret settings that are given, each sealed value bound to its row. */
export function sealSettings(
  secretsKey: () => string,
  endpointId: string,
  { fixedHeaders, clientCertificate }: SecretSettings,
): Partial<SealedSettings> {
  const sealJson = (value: unknown, column: string) =>
    seal(parseSecretKeys(secretsKey()), JSON.stringify(value), `endpoints.${column}:${endpointId}`);
  const headers = fixedHeaders?.length ? sealJson(fixedHeaders, 'headers') : null;
  const client = clientCertificate ? sealJson(clientCertificate, 'tls') : null;
  return {
    ...(fixedHeaders !== undefined && {
      sealedHeaders: headers?.sealed ?? null,
      headersKeyId: headers?.keyId ?? null,
    }),
    ...(clientCertificate !== undefined && {
      sealedClientCertificate: client?.sealed ?? null,
      clientCertificateKeyId: client?.keyId ?? null,
    }),
  };
}

/** The names of the secret settings that are replaced: their values are not logged. */
export function replacedSettings({ fixedHeaders, clientCertificate }: SecretSettings): string[] {
  return [
    ...(fixedHeaders?.length ? ['fixedHeaders'] : []),
    ...(clientCertificate ? ['clientCertificate'] : []),
  ];
}

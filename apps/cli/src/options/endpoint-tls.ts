import type { ClientCertificate, EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';

/** Names of PEM files, as commander parses them; false removes the setting. */
export type EndpointTlsOptions = { ca?: string | false; clientCert?: string | false; clientKey?: string };

/** Reads the TLS files of an endpoint. Throws UsageError for one that cannot be read. */
export async function readEndpointTls(cli: Cli, options: EndpointTlsOptions): Promise<EndpointTls> {
  const { ca, clientCert, clientKey } = options;
  if ((clientKey !== undefined) !== (typeof clientCert === 'string')) {
    throw new UsageError(
      '--client-cert and --client-key go together: a certificate is of no use without its key',
    );
  }
  const tls: EndpointTls = {};
  if (ca) tls.ca = await readInputText(cli, '--ca', ca);
  if (clientCert && clientKey !== undefined) {
    const certificate = await readInputText(cli, '--client-cert', clientCert);
    tls.client = { certificate, key: await readInputText(cli, '--client-key', clientKey) };
  }
  return tls;
}

/** The TLS settings that the options change; null removes a setting. */
export function tlsChanges(
  options: EndpointTlsOptions,
  { ca, client }: EndpointTls,
): { caCertificates?: string | null; clientCertificate?: ClientCertificate | null } {
  return {
    ...(options.ca !== undefined && { caCertificates: ca ?? null }),
    ...(options.clientCert !== undefined && { clientCertificate: client ?? null }),
  };
}

import { createSecureContext } from 'node:tls';
import {
  checkAuthorities,
  checkClientCertificate,
  type ClientCertificate,
  type EndpointTls,
} from '@hqrelay/domain/network/endpoint-tls';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';

/** Names of PEM files, as commander parses them; false removes the setting. */
export type EndpointTlsOptions = { ca?: string | false; clientCert?: string | false; clientKey?: string };

/** Reads and checks the TLS files of an endpoint. Throws UsageError with the file and its fault. */
export async function readEndpointTls(cli: Cli, options: EndpointTlsOptions): Promise<EndpointTls> {
  const { ca, clientCert, clientKey } = options;
  if ((clientKey !== undefined) !== (typeof clientCert === 'string')) {
    throw new UsageError(
      '--client-cert and --client-key go together: a certificate is of no use without its key',
    );
  }
  const tls: EndpointTls = {};
  if (ca) {
    tls.ca = await readInputText(cli, '--ca', ca);
    const verdict = checkAuthorities(tls.ca, Date.now());
    if (!verdict.ok) throw new UsageError(`--ca ${ca}: ${verdict.reason}`);
  }
  if (clientCert && clientKey !== undefined) {
    const certificate = await readInputText(cli, '--client-cert', clientCert);
    tls.client = { certificate, key: await readInputText(cli, '--client-key', clientKey) };
    const verdict = checkClientCertificate(tls.client, Date.now());
    if (!verdict.ok) throw new UsageError(`--client-cert ${clientCert}: ${verdict.reason}`);
  }
  try {
    createSecureContext({ ca: tls.ca, cert: tls.client?.certificate, key: tls.client?.key });
  } catch (error) {
    throw new UsageError(`OpenSSL does not take these certificates: ${(error as Error).message}`);
  }
  return tls;
}

/** The TLS settings that the options change, and no others; null removes a setting. */
export function tlsChanges(
  options: EndpointTlsOptions,
  { ca, client }: EndpointTls,
): { caCertificates?: string | null; clientCertificate?: ClientCertificate | null } {
  return {
    ...(options.ca !== undefined && { caCertificates: ca ?? null }),
    ...(options.clientCert !== undefined && { clientCertificate: client ?? null }),
  };
}

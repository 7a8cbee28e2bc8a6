import { hash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { EndpointTls } from '@hqrelay/domain/network/endpoint-tls';

/** The TLS settings of a socket, under a name that two endpoints share only if their settings are equal. */
export interface TlsIdentity {
  name: string;
  /** Undefined for the system's authorities and no client certificate. */
  secureContext: SecureContext | undefined;
}

const ordinary: TlsIdentity = { name: '', secureContext: undefined };
const identitiesMax = 1_000;

/**
 * TLS identities by what is in them. Making one costs about a millisecond, so the latest 1,000 are reused.
 * Throws OpenSSL's error for PEM that it cannot use.
 */
export function createTlsIdentities(): (tls: EndpointTls | undefined) => TlsIdentity {
  const identities = new Map<string, TlsIdentity>();
  return (tls) => {
    if (!tls?.ca && !tls?.client) return ordinary;
    const { ca, client } = tls;
    const name = hash('sha256', JSON.stringify([ca, client?.certificate, client?.key]));
    const existing = identities.get(name);
    if (existing) return existing;
    const secureContext = createSecureContext({ ca, cert: client?.certificate, key: client?.key });
    const identity = { name, secureContext };
    const [oldest] = identities.keys();
    if (identities.size >= identitiesMax && oldest !== undefined) identities.delete(oldest);
    identities.set(name, identity);
    return identity;
  };
}

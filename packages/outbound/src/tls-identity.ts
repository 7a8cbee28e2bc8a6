import { hash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { EndpointTls } from '@hqrelay/domain/network/endpoint-tls';

/** What sockets are opened with, and a name that two endpoints share only if all of it is the same for both. */
export interface TlsIdentity {
  name: string;
  /** Undefined for the system's authorities and no certificate of ours. */
  secureContext: SecureContext | undefined;
}

const ordinary: TlsIdentity = { name: '', secureContext: undefined };
const identitiesMax = 1_000;

/**
 * TLS identities by what is in them. Making one costs about a millisecond, so they are kept, the latest 1,000.
 * Throws what OpenSSL says of PEM that it cannot use.
 */
export function createTlsIdentities(): (tls: EndpointTls | undefined) => TlsIdentity {
  const kept = new Map<string, TlsIdentity>();
  return (tls) => {
    if (!tls?.ca && !tls?.client) return ordinary;
    const { ca, client } = tls;
    const name = hash('sha256', JSON.stringify([ca, client?.certificate, client?.key]));
    const known = kept.get(name);
    if (known) return known;
    const secureContext = createSecureContext({ ca, cert: client?.certificate, key: client?.key });
    const identity = { name, secureContext };
    const [oldest] = kept.keys();
    if (kept.size >= identitiesMax && oldest !== undefined) kept.delete(oldest);
    kept.set(name, identity);
    return identity;
  };
}

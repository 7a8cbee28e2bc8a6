import { isIP } from 'node:net';

const withPort = /^(?:\[([^\]]*)\]|([\d.]+)):\d{1,5}$/;

/**
 * The address of a request's sender: `forwarded`, which a trusted proxy named, else that of the connection. Some proxies name
 * a port too, and one that is not configured right passes on any text of the sender's.
 */
export function remoteAddress(
  forwarded: string | undefined,
  ofConnection: string | undefined,
): string | null {
  if (forwarded !== undefined && forwarded !== ofConnection) {
    const [, v6, v4] = withPort.exec(forwarded) ?? [];
    const address = v6 ?? v4 ?? forwarded;
    if (isIP(address)) return address;
  }
  return ofConnection ?? null;
}

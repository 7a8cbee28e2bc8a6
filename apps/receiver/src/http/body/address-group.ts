import ipaddr from 'ipaddr.js';

/** The address whose sender is one party: an IPv4 address, or the /64 of an IPv6 address, of which one host has 2^64. */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4);
  return network.map((part) => part.toString(16)).join(':');
}

import { isIP, isIPv4 } from 'node:net';

/** What the IANA special-purpose registries, and the clouds, use an address for. */
export type AddressClass =
  | 'public'
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'documentation'
  | 'benchmarking'
  | 'reserved';

/** A network: 4 or 16 bytes and the number of leading bits that count. */
export type Cidr = { readonly bytes: Uint8Array; readonly prefixBits: number };

/** Most specific first: the first range that contains an address is its class. */
const ranges: readonly (readonly [Cidr, AddressClass])[] = (
  [
    ['169.254.169.254/32', 'metadata'], // AWS, Azure, GCP and most others
    ['169.254.170.2/32', 'metadata'], // AWS ECS
    ['169.254.170.23/32', 'metadata'], // AWS EKS
    ['169.254.42.42/32', 'metadata'], // Scaleway
    ['100.100.100.200/32', 'metadata'], // Alibaba
    ['168.63.129.16/32', 'metadata'], // Azure's host agent, on a public address
    ['192.0.0.192/32', 'metadata'], // Oracle
    ['fd00:ec2::/32', 'metadata'], // AWS: ::254 (instances), ::23 (EKS)
    ['fd20:ce::254/128', 'metadata'], // GCP
    ['fd00:42::42/128', 'metadata'], // Scaleway

    ['0.0.0.0/8', 'unspecified'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'shared'],
    ['127.0.0.0/8', 'loopback'],
    ['169.254.0.0/16', 'link-local'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'reserved'],
    ['192.0.2.0/24', 'documentation'],
    ['192.31.196.0/24', 'reserved'],
    ['192.52.193.0/24', 'reserved'],
    ['192.88.99.0/24', 'reserved'],
    ['192.168.0.0/16', 'private'],
    ['192.175.48.0/24', 'reserved'],
    ['198.18.0.0/15', 'benchmarking'],
    ['198.51.100.0/24', 'documentation'],
    ['203.0.113.0/24', 'documentation'],
    ['224.0.0.0/4', 'multicast'],
    ['255.255.255.255/32', 'broadcast'],
    ['240.0.0.0/4', 'reserved'],
    ['0.0.0.0/0', 'public'],

    ['::/128', 'unspecified'],
    ['::1/128', 'loopback'],
    ['2001::/23', 'reserved'], // IETF assignments, with Teredo, ORCHID and benchmarking
    ['2001:db8::/32', 'documentation'],
    ['2620:4f:8000::/48', 'reserved'],
    ['3fff::/20', 'documentation'],
    ['2000::/3', 'public'],
    ['fc00::/7', 'private'],
    ['fe80::/10', 'link-local'],
    ['ff00::/8', 'multicast'],
    ['::/0', 'reserved'],
  ] as const
).map(([cidr, kind]) => [parseCidr(cidr), kind]);

/** IPv6 ranges whose addresses are another way to write an IPv4 one, and the byte where that begins. */
const embeddings: readonly (readonly [Cidr, number])[] = (
  [
    ['::ffff:0:0/96', 12], // mapped
    ['::ffff:0:0:0/96', 12], // translated (SIIT)
    ['64:ff9b::/96', 12], // NAT64
    ['2002::/16', 2], // 6to4
  ] as const
).map(([cidr, offset]) => [parseCidr(cidr), offset]);

/** The class of an address (4 or 16 bytes), or the IPv4 address that it stands for. */
export function addressClass(address: Uint8Array): { kind: AddressClass; embedded?: Uint8Array } {
  const embedding = embeddings.find(([cidr]) => containsAddress(cidr, address));
  if (embedding) return { kind: 'reserved', embedded: address.subarray(embedding[1], embedding[1] + 4) };
  const range = ranges.find(([cidr]) => containsAddress(cidr, address));
  return { kind: range?.[1] ?? 'reserved' };
}

/** The 4 or 16 bytes of an address in its usual notation, without a zone; undefined for anything else. */
export function parseAddress(ip: string): Uint8Array | undefined {
  if (isIPv4(ip)) return Uint8Array.from(ip.split('.'), Number);
  if (!isIP(ip) || ip.includes('%')) return undefined;
  // URL writes any IPv6 notation, also with a dotted end, as plain groups.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::');
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const groups = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** A network such as `10.0.0.0/8`, or one address. Throws RangeError. */
export function parseCidr(text: string): Cidr {
  const [ip = '', bits, ...rest] = text.trim().split('/');
  const bytes = parseAddress(ip);
  const prefixBits = bits === undefined ? (bytes?.length ?? 0) * 8 : Number(bits);
  if (
    !bytes ||
    rest.length > 0 ||
    (bits !== undefined && !/^\d{1,3}$/.test(bits)) ||
    prefixBits > bytes.length * 8
  ) {
    throw new RangeError(`${JSON.stringify(text)} is not a network such as 10.0.0.0/8 or fd12:3456::/32`);
  }
  return { bytes, prefixBits };
}

/** Whether a network contains an address; one of the other IP version never does. */
export function containsAddress(cidr: Cidr, address: Uint8Array): boolean {
  if (cidr.bytes.length !== address.length) return false;
  const wholeBytes = cidr.prefixBits >> 3;
  for (let i = 0; i < wholeBytes; i++) if (cidr.bytes[i] !== address[i]) return false;
  const restBits = cidr.prefixBits & 7;
  return restBits === 0 || (cidr.bytes[wholeBytes]! ^ address[wholeBytes]!) >> (8 - restBits) === 0;
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

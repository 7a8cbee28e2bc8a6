import { BlockList, isIP, isIPv4 } from 'node:net';

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

/** Apart by IP version, because a BlockList finds an IPv4 address in an IPv6 network such as `::/0`. */
export type Networks = { readonly ipv4: BlockList; readonly ipv6: BlockList };

/** In this order: the first class with a network that contains an address is its class. */
const classes: readonly (readonly [AddressClass, Networks])[] = (
  [
    [
      'metadata',
      [
        '169.254.169.254', // AWS, Azure, GCP and most others
        '169.254.170.2', // AWS ECS
        '169.254.170.23', // AWS EKS
        '169.254.42.42', // Scaleway
        '100.100.100.200', // Alibaba
        '168.63.129.16', // Azure's host agent, on a public address
        '192.0.0.192', // Oracle
        'fd00:ec2::/32', // AWS: ::254 (instances), ::23 (EKS)
        'fd20:ce::254', // GCP
        'fd00:42::42', // Scaleway
      ],
    ],
    ['unspecified', ['0.0.0.0/8', '::']],
    ['loopback', ['127.0.0.0/8', '::1']],
    ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
    ['shared', ['100.64.0.0/10']],
    ['link-local', ['169.254.0.0/16', 'fe80::/10']],
    ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
    ['benchmarking', ['198.18.0.0/15']],
    ['multicast', ['224.0.0.0/4', 'ff00::/8']],
    ['broadcast', ['255.255.255.255']],
    [
      'reserved',
      [
        '192.0.0.0/24',
        '192.31.196.0/24',
        '192.52.193.0/24',
        '192.88.99.0/24',
        '192.175.48.0/24',
        '240.0.0.0/4',
        '2001::/23', // IETF assignments, with Teredo, ORCHID and benchmarking
        '2620:4f:8000::/48',
      ],
    ],
    ['public', ['0.0.0.0/0', '2000::/3']],
  ] as const
).map(([kind, networks]) => [kind, parseNetworks(networks)]);

/** IPv6 networks whose addresses are another way to write an IPv4 one, and the group where that begins. */
const embeddings: readonly (readonly [Networks, number])[] = (
  [
    ['::ffff:0:0/96', 6], // mapped
    ['::ffff:0:0:0/96', 6], // translated (SIIT)
    ['64:ff9b::/96', 6], // NAT64
    ['2002::/16', 1], // 6to4
  ] as const
).map(([network, group]) => [parseNetworks([network]), group]);

/** The class of an IP address, or the IPv4 address that it stands for. */
export function addressClass(ip: string): { kind: AddressClass; embedded?: string } {
  const embedding = isIPv4(ip) ? undefined : embeddings.find(([network]) => isIn(network, ip));
  if (embedding) return { kind: 'reserved', embedded: embeddedAddress(ip, embedding[1]) };
  return { kind: classes.find(([, networks]) => isIn(networks, ip))?.[0] ?? 'reserved' };
}

/** Networks such as `10.0.0.0/8`, or single addresses. Throws RangeError naming the text that is neither. */
export function parseNetworks(texts: readonly string[]): Networks {
  const networks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) {
    const [ip = '', bits, ...rest] = text.trim().split('/');
    const bitsMax = isIPv4(ip) ? 32 : 128;
    const prefix = bits === undefined ? bitsMax : Number(bits);
    if (
      !isAddress(ip) ||
      rest.length > 0 ||
      (bits !== undefined && !/^\d{1,3}$/.test(bits)) ||
      prefix > bitsMax
    ) {
      throw new RangeError(`${JSON.stringify(text)} is not a network such as 10.0.0.0/8 or fd12:3456::/32`);
    }
    networks[familyOf(ip)].addSubnet(ip, prefix, familyOf(ip));
  }
  return networks;
}

/** Whether a network contains an address, which `isAddress` has accepted. */
export function isIn(networks: Networks, ip: string): boolean {
  return networks[familyOf(ip)].check(ip, familyOf(ip));
}

/** An IP address in its usual notation, without a zone. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

function familyOf(ip: string): 'ipv4' | 'ipv6' {
  return isIPv4(ip) ? 'ipv4' : 'ipv6';
}

/** The two groups of an IPv6 address from `group` on, as IPv4. */
function embeddedAddress(ip: string, group: number): string {
  // URL writes any IPv6 notation, also with a dotted end, as plain groups.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter((each) => each !== ''));
  const zeros = Array<string>(8 - left!.length - right!.length).fill('0');
  const groups = [...left!, ...zeros, ...right!].slice(group, group + 2);
  return groups
    .flatMap((each) => [Number.parseInt(each, 16) >> 8, Number.parseInt(each, 16) & 0xff])
    .join('.');
}

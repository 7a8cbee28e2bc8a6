import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** The entries of the hosts file and the resolver file of this machine. */
export interface SystemNames {
  /** Addresses by host name, in lower case. */
  hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** The domains that complete a short name, in order. */
  searchDomains: readonly string[];
}

const rereadMs = 5_000;

/** The addresses of a hosts file (hosts(5)); lines that do not parse are skipped, as the system does. */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** The search list of resolv.conf(5): the last `search` or `domain` line counts. */
export function parseSearchDomains(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const [, ...domains] = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain') ?? [];
  return domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
}

/** Reads both files at most every 5 s, so that a change is seen without a restart. A missing file is empty. */
export function createSystemNames(
  { hostsFile, resolverFile }: { hostsFile: string; resolverFile: string },
  now: () => number,
): () => Promise<SystemNames> {
  let latest: { names: Promise<SystemNames>; readAt: number } | undefined;
  const read = async () => {
    const [hosts, resolver] = await Promise.all([readIfThere(hostsFile), readIfThere(resolverFile)]);
    return { hosts: parseHosts(hosts), searchDomains: parseSearchDomains(resolver) };
  };
  return () => {
    if (!latest || now() - latest.readAt >= rereadMs) latest = { names: read(), readAt: now() };
    return latest.names;
  };
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

import {
  CANCELLED,
  CONNREFUSED,
  type LookupAddress,
  NODATA,
  NOTFOUND,
  promises as dns,
  TIMEOUT,
} from 'node:dns';
import { setTimeout as wait } from 'node:timers/promises';
import { createSystemNames } from './system-names.ts';

/** The addresses of a host name. It rejects with a code of c-ares, `ETIMEOUT` when `signal` aborts. */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

export interface ResolveHostOptions {
  /** Name servers as `address` or `address:port`; those of the resolver file unless given. */
  nameServers?: readonly string[] | undefined;
  hostsFile?: string;
  resolverFile?: string;
  /** A clock in ms. */
  now?: () => number;
}

type Answer = { addresses: LookupAddress[] } | { error: NodeJS.ErrnoException };

/** c-ares doubles the first try's time with every try; the look-up's own deadline ends all of them. */
const tries = { timeout: 1_000, tries: 3 };
/** How long an answer for one address family waits for the other's. Some name servers drop questions for AAAA. */
const otherFamilyMs = 500;
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names as the system does for most machines: the hosts file, `localhost`, then DNS with the search list.
 * It asks by c-ares instead of getaddrinfo, which blocks one of two threads of the whole process per name and cannot
 * be cancelled. Name services other than files and DNS (mDNS, LDAP, NIS) are not asked.
 */
export function createResolveHost({
  nameServers,
  hostsFile = '/etc/hosts',
  resolverFile = '/etc/resolv.conf',
  now = () => performance.now(),
}: ResolveHostOptions = {}): ResolveHost {
  const readSystemNames = createSystemNames({ hostsFile, resolverFile }, now);

  return async (hostname, signal) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const { hosts, searchDomains } = await readSystemNames();
    const local = hosts.get(name) ?? (/(^|\.)localhost$/.test(name) ? loopback : undefined);
    if (local) return [...local];

    let failure: NodeJS.ErrnoException | undefined;
    for (const candidate of hostname.endsWith('.') ? [name] : candidatesFor(name, searchDomains)) {
      const answer = await askBothFamilies(candidate, nameServers, signal);
      if ('addresses' in answer) return answer.addresses;
      // The error for the name as it was given is the clearest one.
      if (!failure || candidate === name) failure = answer.error;
      if (!meansNoAddress(answer.error)) break;
    }
    throw failure as NodeJS.ErrnoException;
  };
}

/** A name with a dot is asked for as it is before the search list completes it, so that most need one question. */
function candidatesFor(name: string, searchDomains: readonly string[]): string[] {
  const completed = searchDomains.map((domain) => `${name}.${domain}`);
  return name.includes('.') ? [name, ...completed] : [...completed, name];
}

/** Each question has a resolver of its own: it reads the current resolver file, and cancelling ends only this one. */
async function askBothFamilies(
  name: string,
  nameServers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  if (signal.aborted) return { error: unanswered(name) };
  const resolver = new dns.Resolver(tries);
  if (nameServers) resolver.setServers(nameServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = [
      answerOf(resolver.resolve4(name), 4, name),
      answerOf(resolver.resolve6(name), 6, name),
    ] as const;
    const first = await Promise.race(answers);
    if ('addresses' in first) {
      const ended = new AbortController();
      await Promise.race([Promise.all(answers), wait(otherFamilyMs, undefined, { signal: ended.signal })]);
      ended.abort();
      resolver.cancel();
    }
    return mergeAnswers(await Promise.all(answers));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function answerOf(question: Promise<string[]>, family: 4 | 6, name: string): Promise<Answer> {
  try {
    return { addresses: (await question).map((address) => ({ address, family })) };
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    // The name server refused the connection; in the error of an attempt, CONNREFUSED would blame the endpoint.
    const isUnanswered = failure.code === CANCELLED || failure.code === CONNREFUSED;
    return { error: isUnanswered ? unanswered(name) : failure };
  }
}

/** IPv4 first: relays without IPv6 are common. A failure counts before "no address", which is the answer for one family. */
function mergeAnswers(answers: readonly Answer[]): Answer {
  const addresses = answers.flatMap((answer) => ('addresses' in answer ? answer.addresses : []));
  if (addresses.length > 0) return { addresses };
  const errors = answers.flatMap((answer) => ('error' in answer ? [answer.error] : []));
  const error = errors.find((each) => !meansNoAddress(each)) ?? errors[0];
  return { error: error ?? Object.assign(new Error('the answer has no address'), { code: NODATA }) };
}

function meansNoAddress({ code }: NodeJS.ErrnoException): boolean {
  return code === NOTFOUND || code === NODATA;
}

function unanswered(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no name server answered for ${name}`), { code: TIMEOUT });
}

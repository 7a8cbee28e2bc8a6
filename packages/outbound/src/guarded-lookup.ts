import { type LookupAddress, promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { addressVerdict, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';

/** An address that the policy forbids stands behind a name. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor(hostname: string, reason: string) {
    super(`${hostname} resolves to ${reason}`);
    this.name = 'ForbiddenAddressError';
  }
}

export type ResolveAddresses = (hostname: string) => Promise<LookupAddress[]>;

const answersMax = 1_000;
const answerTtlMs = 5_000;

/**
 * A `lookup` for sockets that resolves a name, judges every address of the answer and fails if a single one
 * is forbidden: a name that points at both a public and a private address is an attack or a mistake. The
 * socket connects to the very addresses judged here, so a later change of the name cannot get in between.
 * Sockets do not call it for IP literals: those have to be judged before.
 *
 * The operating system resolves names on a few threads, so questions for the same name are asked once and
 * the judged answer is kept for 5 s; otherwise one slow name server would delay everybody's deliveries.
 */
export function createGuardedLookup(
  policy: NetworkPolicy,
  resolve: ResolveAddresses = (hostname) => dns.lookup(hostname, { all: true }),
  now: () => number = () => performance.now(),
): LookupFunction {
  const answers = new Map<string, { addresses: Promise<LookupAddress[]>; until: number }>();

  async function judged(hostname: string): Promise<LookupAddress[]> {
    const addresses = await resolve(hostname);
    for (const { address } of addresses) {
      const verdict = addressVerdict(policy, address);
      if (!verdict.allowed) throw new ForbiddenAddressError(hostname, verdict.reason);
    }
    return addresses;
  }

  function ask(hostname: string): Promise<LookupAddress[]> {
    const known = answers.get(hostname);
    if (known && known.until > now()) return known.addresses;
    const oldest = answers.keys().next();
    if (answers.size >= answersMax && !oldest.done) answers.delete(oldest.value);
    const answer = { addresses: judged(hostname), until: Number.POSITIVE_INFINITY };
    answers.set(hostname, answer);
    answer.addresses.then(
      () => (answer.until = now() + answerTtlMs),
      () => (answer.until = 0),
    );
    return answer.addresses;
  }

  return (hostname, { all, family }, callback) => {
    ask(hostname).then(
      (addresses) => {
        const usable = addresses.filter((each) => !family || each.family === Number(family));
        const [first] = usable;
        if (!first)
          callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '');
        else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}

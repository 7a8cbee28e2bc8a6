import { type LookupAddress, NOTFOUND } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { checkAddress, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import type { ResolveHost } from './resolve-host.ts';
import { createSpacedCalls } from './spaced-calls.ts';

/** A name resolves to an address that the policy forbids. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor(hostname: string, reason: string) {
    super(`${hostname} resolves to ${reason}`);
    this.name = 'ForbiddenAddressError';
  }
}

interface Answer {
  addresses: Promise<LookupAddress[]>;
  /** By the clock given; unlimited while the look-up is in flight. */
  validUntil: number;
  cancel(): void;
}

const answersMax = 1_000;
const answerTtlMs = 5_000;
/** Short, because a name that was just created should work at the next retry. */
const failureTtlMs = 2_000;
const lookupDeadlineMs = 5_000;
/** As many failures a second as the retries that are admitted beside new webhooks at least (docs/decisions/0007). */
const failuresEveryMs = 5;

/**
 * A `lookup` for sockets that resolves a name, checks every address of the answer and fails if a single one
 * is forbidden: a name that points at both a public and a private address is an attack or a mistake. The
 * socket connects to the addresses checked here, so a later change of the name cannot get in between.
 * Sockets do not call it for IP literals: the caller checks those.
 *
 * Sockets to one name share a look-up, its answer and its failure. Failures reach the sockets 5 ms apart: hundreds of deliveries
 * may wait for a silent name server, and recording all of them at once would delay those of other endpoints. Past 1,000 names
 * the oldest is forgotten, and its look-up is cancelled if it is still in flight.
 */
export function createGuardedLookup(
  policy: NetworkPolicy,
  resolve: ResolveHost,
  now: () => number = () => performance.now(),
): LookupFunction {
  const answers = new Map<string, Answer>();
  const failLater = createSpacedCalls(failuresEveryMs);

  function answerFor(hostname: string): Answer {
    const latest = answers.get(hostname);
    if (latest && latest.validUntil > now()) return latest;
    answers.delete(hostname);
    if (answers.size >= answersMax) forgetOldest(answers);
    const answer = startLookup(now, (signal) => resolveChecked(policy, resolve, hostname, signal));
    answers.set(hostname, answer);
    return answer;
  }

  return (hostname, { all, family }, callback) => {
    answerFor(hostname).addresses.then(
      (addresses) => {
        const usable = addresses.filter((each) => !family || each.family === Number(family));
        const [first] = usable;
        if (!first) callback(Object.assign(new Error(`${hostname} has no address`), { code: NOTFOUND }), '');
        else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => failLater(() => callback(error as NodeJS.ErrnoException, '')),
    );
  };
}

async function resolveChecked(
  policy: NetworkPolicy,
  resolve: ResolveHost,
  hostname: string,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  const addresses = await resolve(hostname, signal);
  for (const { address } of addresses) {
    const check = checkAddress(policy, address);
    if (!check.allowed) throw new ForbiddenAddressError(hostname, check.reason);
  }
  return addresses;
}

function startLookup(now: () => number, lookUp: (signal: AbortSignal) => Promise<LookupAddress[]>): Answer {
  const controller = new AbortController();
  const cancel = () => controller.abort();
  const deadline = setTimeout(cancel, lookupDeadlineMs);
  const answer: Answer = {
    addresses: lookUp(controller.signal),
    validUntil: Number.POSITIVE_INFINITY,
    cancel,
  };
  const keepFor = (ttlMs: number) => () => {
    clearTimeout(deadline);
    answer.validUntil = now() + ttlMs;
  };
  answer.addresses.then(keepFor(answerTtlMs), keepFor(failureTtlMs));
  return answer;
}

function forgetOldest(answers: Map<string, Answer>): void {
  const [oldest] = answers;
  if (!oldest) return;
  oldest[1].cancel();
  answers.delete(oldest[0]);
}

import { bothKeys } from '@hqrelay/domain/inbound/reservation';
import { freshId } from '@hqrelay/testing/fresh-id';
import {
  acceptKeys,
  expireKeys,
  releaseKeys,
  reserveInPostgres,
  reserveInRedis,
} from '@hqrelay/testing/reservation/key-operations';
import { rules, type Keys, type Store } from '@hqrelay/testing/reservation/model-state';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KeyRequest, ReservationHandle } from '../src/reservation/reservation-store.ts';
import { openStores, type OpenStore, type OpenStores } from './reservation-stores.ts';

// The model check of the reservation (reservation.model.test.ts in the domain) describes each step of a store
// by a function. Here the real stores take random steps of the same kind. After each they must give the same
// answer and hold the same keys as the functions.

let stores: OpenStores;

beforeAll(async () => {
  stores = await openStores();
});

afterAll(() => stores.close());

const traces = 150;
const stepsOfTrace = 10;

/** Two requests of one webhook, and a third with another body, or with the same content under another id. */
const sameWebhook = { webhookId: 'i', payloadSha256: 'x' };
const otherBody = { webhookId: 'i', payloadSha256: 'y' };
const otherId = { webhookId: 'j', payloadSha256: 'x' };

type Reserved = { request: KeyRequest; handle: ReservationHandle; id: string };

it.each<[Store, boolean]>([
  ['Redis', false],
  ['Redis', true],
  ['Postgres', false],
  ['Postgres', true],
])('the %s store agrees with its model after every step (content key: %s)', async (name, hasContentKey) => {
  const store = name === 'Redis' ? stores.inRedis : stores.inPostgres;
  const seeds = Array.from({ length: traces }, (_, index) => index + 1);
  for (let first = 0; first < traces; first += 25) {
    const together = seeds.slice(first, first + 25);
    await Promise.all(together.map((seed) => replayTrace(name, store, hasContentKey, randomBy(seed))));
  }
});

async function replayTrace(
  name: Store,
  store: OpenStore,
  hasContentKey: boolean,
  random: (below: number) => number,
) {
  const projectId = freshId();
  const mine = new Map<number, Reserved>();
  const done: string[] = [];
  let keys: Keys = {};
  const askers = [sameWebhook, sameWebhook, hasContentKey ? otherId : otherBody];
  for (let step = 0; step < stepsOfTrace; step += 1) {
    const asker = random(askers.length);
    const reserved = mine.get(asker);
    const action = ['reserve', 'reserve', 'accept', 'release', 'expire'][random(5)]!;
    done.push(`${action} ${asker}`);
    if (action === 'reserve') {
      const request = requestOf(projectId, askers[asker]!, hasContentKey);
      const expected = reserveInModel(name, keys, request);
      const answer = await waitFor('an answer', () => store.store.reserve(request));
      if (answer.kind !== 'held') throw new Error(answer.kind);
      const { state, id, payloadSha256 } = expected.held;
      const { held, isMine } = answer;
      const trace = done.join(', ');
      const wanted = { trace, isMine: expected.isMine, state, id, payloadSha256 };
      expect({ trace, isMine, ...held }).toMatchObject(wanted);
      keys = expected.keys;
      if (isMine) mine.set(asker, { request, handle: answer.handle, id: held.id });
    } else if (action === 'expire') {
      keys = expireKeys(keys);
      await store.expire(projectId);
    } else if (reserved) {
      const { request, handle, id } = reserved;
      const { payloadSha256, token } = request;
      keys =
        action === 'accept'
          ? acceptKeys(rules, name, keys, namesOf(request), { id, payloadSha256, token })
          : releaseKeys(rules, keys, namesOf(request), token);
      if (action === 'accept') handle.accept({ id, payloadSha256 }, bothKeys);
      else handle.release();
    }
    const wanted = Object.fromEntries(
      Object.entries(keys).map(([key, { state, id }]) => [key, `${state} ${id}`]),
    );
    // The store writes a mark asynchronously.
    await waitFor(`${done.join(', ')}: ${JSON.stringify(wanted)}`, async () => {
      expect(await store.keysOf(projectId)).toEqual(wanted);
      return true;
    });
  }
}

function reserveInModel(name: Store, keys: Keys, request: KeyRequest) {
  const names = namesOf(request);
  if (name === 'Redis') {
    const answer = reserveInRedis(rules, keys, names, request);
    return { keys: answer.keys, ...answer.reserved };
  }
  const [idName = '', contentName] = names;
  const byId = reserveInPostgres(rules, keys, idName, request);
  if (!byId.reserved.isMine || !contentName) return { keys: byId.keys, ...byId.reserved };
  const contentRequest = { ...request, id: byId.reserved.held.id };
  const byContent = reserveInPostgres(rules, byId.keys, contentName, contentRequest);
  return byContent.reserved.isMine
    ? { keys: byContent.keys, ...byContent.reserved }
    : { keys: releaseKeys(rules, byContent.keys, [idName], request.token), ...byContent.reserved };
}

function namesOf({ webhookId, contentKeys }: KeyRequest): string[] {
  return [webhookId, ...contentKeys.map(({ name }) => name)];
}

function requestOf(
  projectId: string,
  asker: Pick<KeyRequest, 'webhookId' | 'payloadSha256'>,
  hasContentKey: boolean,
): KeyRequest {
  return {
    ...asker,
    projectId,
    id: freshId(),
    token: freshId(),
    rateLimitPerMinute: null,
    idempotencyTtlSeconds: 3_600,
    onConflict: 'reject',
    contentKeys: hasContentKey ? [{ name: 'content', isBody: false, ttlSeconds: 3_600 }] : [],
  };
}

/** Whole numbers below a bound, the same for each run of a seed (mulberry32). */
function randomBy(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

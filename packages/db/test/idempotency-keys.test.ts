import { freshId } from '@hqrelay/testing/fresh-id';
import { reservationCases } from '@hqrelay/testing/reservation/reservation-cases';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  acceptKeys,
  dropExpiredKeys,
  releaseKeys,
  reserveKeys,
  type KeyRequest,
  type KeyReservation,
} from '../src/queries/idempotency-keys.ts';
import { findPriorWebhooks } from '../src/queries/prior-webhooks.ts';
import { claimKeys, settleKeys } from './previous-version.ts';

let world: World;
let pool: pg.Pool;
let projectId: string;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  pool = new pg.Pool({ connectionString: world.databaseUrl, max: 8 });
});

afterAll(async () => {
  await pool?.end();
  await world?.close();
});

beforeEach(() => {
  projectId = freshId();
});

const body = 'ab'.repeat(32);
const otherBody = 'cd'.repeat(32);

function keyOf(webhookId: string, options: Partial<KeyRequest> = {}): KeyRequest {
  return {
    projectId,
    webhookId,
    id: freshId(),
    payloadSha256: body,
    token: freshId(),
    windowSeconds: 3_600,
    reservationSeconds: 10,
    ...options,
  };
}

async function reserve(request: KeyRequest): Promise<KeyReservation> {
  const [answer] = await reserveKeys(pool, [request]);
  return answer as KeyReservation;
}

const storedNames = { reserved: 'reserved', accepted: 'seen', released: 'retryable' } as const;

describe('the statement reserves a key as the domain does', () => {
  it.each(reservationCases())(
    'the statement reserves a key as the domain does: $title',
    async ({ held, ageMs, request, expected }) => {
      if (held) {
        await world.sql.query(
          `insert into idempotency_keys
           (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
         values ($1, 'evt_1', $2, $3, $4, $5, now() - $6 * interval '1 ms', now() + interval '1 hour')`,
          [projectId, held.id, held.payloadSha256, storedNames[held.state], held.token, ageMs],
        );
      }
      const { state, id, payloadSha256 } = expected.held;
      expect(await reserve(keyOf('evt_1', request))).toMatchObject({
        held: { state, id, payloadSha256 },
        isMine: expected.isMine,
      });
    },
  );
});

describe('requests that are made together', () => {
  it('requests in one statement each get their own answer, in the order asked', async () => {
    const [accepted, released, atWork] = [keyOf('accepted'), keyOf('released'), keyOf('at work')];
    await reserveKeys(pool, [accepted, released, atWork]);
    await acceptKeys(pool, [accepted]);
    await releaseKeys(pool, [released, { ...atWork, token: freshId() }]);
    const fresh = keyOf('fresh');
    expect(
      await reserveKeys(pool, [
        keyOf('at work'),
        fresh,
        keyOf('accepted', { payloadSha256: otherBody }),
        keyOf('released'),
      ]),
    ).toMatchObject([
      { held: { state: 'reserved', id: atWork.id }, isMine: false },
      { held: { state: 'reserved', id: fresh.id }, isMine: true },
      { held: { state: 'accepted', id: accepted.id, payloadSha256: body }, isMine: false },
      { held: { state: 'reserved', id: released.id }, isMine: true },
    ]);
  });

  it('of several requests for one key in one statement the first gets it', async () => {
    const requests = [keyOf('a'), keyOf('a'), keyOf('a', { payloadSha256: otherBody })];
    const answers = await reserveKeys(pool, requests);
    expect(answers.map(({ isMine }) => isMine)).toEqual([true, false, false]);
    expect(new Set(answers.map(({ held }) => held.id))).toEqual(new Set([requests[0]?.id]));
  });

  it('concurrent reservations in any order, their ends and the cleaning job do not deadlock', async () => {
    const webhookIds = Array.from({ length: 60 }, (_, index) => `evt_${index}`);
    const winners = new Set<string>();
    const round = async (index: number) => {
      // Each expires at once, so that the next request changes the row.
      const requests = shuffled(webhookIds).map((webhookId) => keyOf(webhookId, { windowSeconds: 0 }));
      const answers = await reserveKeys(pool, requests);
      const won = requests.filter((_, place) => answers[place]?.isMine);
      for (const { webhookId } of won) winners.add(webhookId);
      await (index % 2 ? acceptKeys : releaseKeys)(pool, shuffled(won));
    };
    for (let i = 0; i < 25; i += 1) {
      await Promise.all([0, 1, 2, 3, 4, 5].map(round).concat(dropExpiredKeys(pool, 30).then(() => {})));
    }
    expect(winners.size).toBe(webhookIds.length);
  });
});

describe('receivers of this version and of the previous one, on one database', () => {
  type Version = {
    reserve: (request: KeyRequest) => Promise<{ kind: string; id: string }>;
    accept: (request: KeyRequest) => Promise<void>;
    release: (request: KeyRequest) => Promise<void>;
  };
  const thisVersion: Version = {
    async reserve(request) {
      const { held, isMine } = await reserve(request);
      return { kind: isMine ? 'claimed' : held.state === 'accepted' ? 'seen' : 'pending', id: held.id };
    },
    accept: (request) => acceptKeys(pool, [request]),
    release: (request) => releaseKeys(pool, [request]),
  };
  const versionBefore: Version = {
    async reserve(request) {
      const [answer] = await claimKeys(pool, [request]);
      return { kind: answer!.kind, id: answer!.id };
    },
    accept: (request) => settleKeys(pool, [{ ...request, state: 'seen' }]),
    release: (request) => settleKeys(pool, [{ ...request, state: 'retryable' }]),
  };

  it.each([
    ['a receiver of the previous version reads the rows of this version', thisVersion, versionBefore],
    ['a receiver of this version reads the rows of the previous version', versionBefore, thisVersion],
  ])('%s', async (_title, writer, reader) => {
    const accepted = keyOf('accepted');
    await writer.reserve(accepted);
    expect(await reader.reserve(keyOf('accepted'))).toEqual({ kind: 'pending', id: accepted.id });
    await writer.accept(accepted);
    expect(await reader.reserve(keyOf('accepted'))).toEqual({ kind: 'seen', id: accepted.id });

    const released = keyOf('released');
    await writer.reserve(released);
    await writer.release(released);
    const retry = keyOf('released');
    expect(await reader.reserve(retry)).toEqual({ kind: 'claimed', id: released.id });
    expect(await writer.reserve(keyOf('released'))).toEqual({ kind: 'pending', id: released.id });
    await reader.accept({ ...retry, id: released.id });
    expect(await writer.reserve(keyOf('released'))).toEqual({ kind: 'seen', id: released.id });
  });
});

describe('the prior webhook of an id', () => {
  it('the prior webhook of an id is the reservation of another request, in each of its states', async () => {
    const [reserved, accepted, released] = [keyOf('reserved'), keyOf('accepted'), keyOf('released')];
    await reserveKeys(pool, [reserved, accepted, released]);
    await acceptKeys(pool, [accepted]);
    await releaseKeys(pool, [released]);
    expect(
      await findPriorWebhooks(pool, [
        keyOf('reserved'),
        keyOf('accepted'),
        keyOf('released'),
        reserved,
        keyOf('unknown'),
      ]),
    ).toEqual([
      { id: reserved.id, payloadSha256: body, state: 'reserved', isCarried: false },
      { id: accepted.id, payloadSha256: body, state: 'accepted', isCarried: true },
      { id: released.id, payloadSha256: body, state: 'released', isCarried: false },
      null,
      null,
    ]);
  });
});

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

import { newId } from '@hqrelay/domain/ids';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  claimKeys,
  dropExpiredKeys,
  settleKeys,
  type ClaimOutcome,
  type KeyClaim,
} from '../src/queries/idempotency-keys.ts';

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
  projectId = newId();
});

function claim(webhookId: string, options: Partial<KeyClaim> = {}): KeyClaim {
  return {
    projectId,
    webhookId,
    id: newId(),
    payloadSha256: 'ab'.repeat(32),
    token: newId(),
    windowSeconds: 3_600,
    reservationSeconds: 10,
    ...options,
  };
}

describe('claims that are made together', () => {
  it('each have their own outcome, in the order asked', async () => {
    const [seen, failed, underWay] = [claim('seen'), claim('failed'), claim('under way')];
    await claimKeys(pool, [seen, failed, underWay]);
    await settleKeys(pool, [
      { ...seen, state: 'seen' },
      { ...failed, state: 'retryable' },
      { ...underWay, token: newId(), state: 'seen' },
    ]);
    const fresh = claim('fresh');
    expect(
      await claimKeys(pool, [
        claim('under way'),
        fresh,
        claim('seen', { payloadSha256: 'cd'.repeat(32) }),
        claim('failed'),
        claim('seen'),
      ]),
    ).toEqual<ClaimOutcome[]>([
      { kind: 'pending', id: underWay.id, sameBody: true },
      { kind: 'claimed', id: fresh.id, takenOver: false },
      { kind: 'seen', id: seen.id, sameBody: false },
      { kind: 'claimed', id: failed.id, takenOver: true },
      { kind: 'seen', id: seen.id, sameBody: true },
    ]);
  });

  it('on one id go to the first', async () => {
    const claims = [claim('a'), claim('a'), claim('a', { payloadSha256: 'cd'.repeat(32) })];
    const id = claims[0]?.id;
    expect(await claimKeys(pool, claims)).toEqual([
      { kind: 'claimed', id, takenOver: false },
      { kind: 'pending', id, sameBody: true },
      { kind: 'pending', id, sameBody: false },
    ]);
  });

  it('in any order, by many at once, with their ends and what cleans up behind them, wait for nobody in vain', async () => {
    const webhookIds = Array.from({ length: 60 }, (_, index) => `evt_${index}`);
    const winners = new Map<string, number>();
    const round = async () => {
      // Each has run out at once, so that the next one changes the row.
      const claims = shuffled(webhookIds).map((webhookId) => claim(webhookId, { windowSeconds: 0 }));
      const outcomes = await claimKeys(pool, claims);
      const won = claims.filter((_, index) => outcomes[index]?.kind === 'claimed');
      for (const { webhookId } of won) winners.set(webhookId, (winners.get(webhookId) ?? 0) + 1);
      await settleKeys(
        pool,
        shuffled(won).map((each) => ({ ...each, state: 'retryable' })),
      );
    };
    for (let i = 0; i < 25; i += 1) {
      await Promise.all([...Array.from({ length: 6 }, round), dropExpiredKeys(pool, 30)]);
    }
    expect(winners.size).toBe(webhookIds.length);
  });
});

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

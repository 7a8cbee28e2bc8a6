import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { appendAudit, type WebhookRow } from '../src/queries/append-audit.ts';
import { endTurns, takeTurns, type TurnRequest } from '../src/queries/ordered-turns.ts';
import { hasUnsequenced, sequenceKeys } from '../src/queries/unsequenced.ts';
import { readKeys } from '../src/queries/waiting-turns.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { app, world } = await openWorld({ connectionsMax: 8 });

type Ordered = WebhookRow & { ordering: NonNullable<WebhookRow['ordering']> };

/** A webhook that owes an ordered delivery for each of the keys, each at an endpoint of its own. */
function orderedRow(
  keys: Record<string, string>,
  isEarly = false,
  acceptedAtUs = Date.now() * 1_000,
): Ordered {
  const endpointIds = Object.keys(keys);
  const row = webhookRow({ endpointIds }, null);
  const deliveries = endpointIds.map((endpointId) => ({
    deliveryId: deliveryId(row.log.id, endpointId),
    endpointId,
    key: keys[endpointId]!,
  }));
  return { ...row, ordering: { deliveries, acceptedAtUs, isEarly } };
}

async function sequencesOf(endpointId: string): Promise<Record<string, (number | null)[]>> {
  const { rows } = await app.query<{ key: string; sequence: string | null }>(
    `select ordering_key as key, sequence from ordered_deliveries where endpoint_id = $1
     order by ordering_key, sequence, accepted_at_us`,
    [endpointId],
  );
  const byKey: Record<string, (number | null)[]> = {};
  for (const { key, sequence } of rows) (byKey[key] ??= []).push(sequence === null ? null : Number(sequence));
  return byKey;
}

function requestOf({ log, ordering }: Ordered, attemptNum = 1, claimMs = 60_000): TurnRequest {
  const receivedAt = Number.parseInt(log.id.slice(0, 8) + log.id.slice(9, 13), 16);
  return {
    deliveryId: ordering.deliveries[0]!.deliveryId,
    webhookLogId: log.id,
    receivedAt,
    attemptNum,
    claimMs,
  };
}

async function answerFor(...args: Parameters<typeof requestOf>) {
  const [answer] = await takeTurns(app, [requestOf(...args)]);
  return answer!;
}

async function seedOrdered(onDeadLetter = 'continue'): Promise<string> {
  const projectId = freshId();
  const endpointId = freshId();
  await world.sql.query("insert into projects (id, name, provider) values ($1, 'p', 'generic')", [projectId]);
  await world.sql.query(
    `insert into endpoints (id, project_id, url, retry_schedule, timeout_ms, ordering_key, on_dead_letter)
     values ($1, $2, 'http://127.0.0.1', '{1s}', 1000, '/id', $3)`,
    [endpointId, projectId, onDeadLetter],
  );
  return endpointId;
}

describe('the sequences of ordered webhooks', () => {
  it('webhooks of one key are numbered from 1 in the order of their commits, each endpoint and key for itself', async () => {
    const [one, other] = [freshId(), freshId()];
    await appendAudit(app, [orderedRow({ [one]: 'a', [other]: 'x' })]);
    await appendAudit(app, [orderedRow({ [one]: 'a' }), orderedRow({ [one]: 'b' }), webhookRow({}, null)]);
    await appendAudit(app, [orderedRow({ [one]: 'a' })]);
    expect(await sequencesOf(one)).toEqual({ a: [1, 2, 3], b: [1] });
    expect(await sequencesOf(other)).toEqual({ x: [1] });
  });

  it('webhooks of one key in one batch are numbered in the order in which they were accepted', async () => {
    const endpointId = freshId();
    const rows = [3, 1, 2].map((at) => orderedRow({ [endpointId]: 'a' }, false, at));
    await appendAudit(app, rows);
    const { rows: found } = await app.query<{ webhook_log_id: string }>(
      'select webhook_log_id from ordered_deliveries where endpoint_id = $1 order by sequence',
      [endpointId],
    );
    expect(found.map((row) => row.webhook_log_id)).toEqual([1, 2, 0].map((index) => rows[index]!.log.id));
  });

  it('a webhook that is written again gets no second sequence, also after its delivery has ended', async () => {
    const endpointId = freshId();
    const row = orderedRow({ [endpointId]: 'a' });
    await appendAudit(app, [row]);
    await appendAudit(app, [row]);
    expect(await sequencesOf(endpointId)).toEqual({ a: [1] });
    await endTurns(app, [row.ordering.deliveries[0]!.deliveryId]);
    await appendAudit(app, [row]);
    expect(await sequencesOf(endpointId)).toEqual({});
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    expect(await sequencesOf(endpointId)).toEqual({ a: [2] });
  });

  it('receivers that commit the same keys at once in any order give each webhook its own sequence', async () => {
    const endpointId = freshId();
    const batch = (keys: string[]) => keys.map((key) => orderedRow({ [endpointId]: key }));
    const batches = Array.from({ length: 20 }, (_, index) =>
      appendAudit(app, batch(index % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a'])),
    );
    await Promise.all(batches);
    const oneToTwenty = Array.from({ length: 20 }, (_, index) => index + 1);
    expect(await sequencesOf(endpointId)).toEqual({ a: oneToTwenty, b: oneToTwenty, c: oneToTwenty });
  });

  it('a webhook behind one that may be missing gets no sequence, nor do later ones of its key', async () => {
    const endpointId = freshId();
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' }, true)]);
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' }), orderedRow({ [endpointId]: 'b' })]);
    expect(await sequencesOf(endpointId)).toEqual({ a: [1, null, null], b: [1] });
  });
});

describe('the turn of an ordered delivery', () => {
  it('the first of a key is claimed, and the next one only after the first has ended', async () => {
    const endpointId = freshId();
    const [first, second] = [orderedRow({ [endpointId]: 'a' }), orderedRow({ [endpointId]: 'a' })] as const;
    await appendAudit(app, [first]);
    await appendAudit(app, [second]);
    expect(await answerFor(second)).toEqual({ kind: 'behind' });
    expect(await answerFor(first)).toEqual({ kind: 'yours', sequence: 1 });
    expect(await answerFor(second)).toEqual({ kind: 'behind' });
    await endTurns(app, [requestOf(first).deliveryId]);
    expect(await answerFor(second)).toEqual({ kind: 'yours', sequence: 2 });
  });

  it('of many workers that ask at once one gets the turn', async () => {
    const row = orderedRow({ [freshId()]: 'a' });
    await appendAudit(app, [row]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => answerFor(row)));
    expect(answers.filter(({ kind }) => kind === 'yours')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(7);
  });

  it('a claim ends with its time, or with the next attempt, which follows the recorded one', async () => {
    const row = orderedRow({ [freshId()]: 'a' });
    await appendAudit(app, [row]);
    expect(await answerFor(row, 1)).toMatchObject({ kind: 'yours' });
    expect(await answerFor(row, 1)).toEqual({ kind: 'claimed' });
    expect(await answerFor(row, 2, 0)).toMatchObject({ kind: 'yours' });
    expect(await answerFor(row, 2)).toMatchObject({ kind: 'yours' });
  });

  it('a delivery whose webhook is not recorded yet waits', async () => {
    expect(await answerFor(orderedRow({ [freshId()]: 'a' }))).toEqual({ kind: 'behind' });
  });

  it('a delivery without a row has ended when its end is recorded, and is unordered otherwise', async () => {
    const endpointId = freshId();
    const [row, unordered] = [orderedRow({ [endpointId]: 'a' }), orderedRow({ [endpointId]: 'b' })] as const;
    await appendAudit(app, [row, { ...unordered, ordering: undefined as never }]);
    expect(await answerFor(unordered)).toEqual({ kind: 'unordered' });
    const { deliveryId: id } = requestOf(row);
    await appendAudit(app, [attemptRow(row.log, { deliveryId: id, endpointId, status: 'delivered' })]);
    await endTurns(app, [id]);
    expect(await answerFor(row)).toEqual({ kind: 'ended' });
  });
});

describe('the search for turns that were left open', () => {
  it('the search finds first deliveries that were delivered, and those that are dead where the endpoint continues', async () => {
    const [continues, holds] = [await seedOrdered(), await seedOrdered('hold')] as const;
    const row = async (
      endpointId: string,
      key: string,
      status?: 'failed' | 'delivered' | 'dead_lettered',
    ) => {
      const ordered = orderedRow({ [endpointId]: key });
      await appendAudit(app, [ordered]);
      const { deliveryId: id } = requestOf(ordered);
      if (status) await appendAudit(app, [attemptRow(ordered.log, { deliveryId: id, endpointId, status })]);
      return { id, log: ordered.log };
    };
    const delivered = await row(continues, 'delivered', 'delivered');
    const dead = await row(continues, 'dead', 'dead_lettered');
    await row(continues, 'failed', 'failed');
    await row(continues, 'waits');
    const held = await row(holds, 'held', 'dead_lettered');
    const endedOf = async () => (await readKeys(app, undefined, 1_000)).ended.map((each) => each.deliveryId);
    expect(new Set(await endedOf())).toEqual(new Set([delivered.id, dead.id]));

    // A replay of it is a delivery of its own.
    await appendAudit(app, [
      attemptRow(held.log, { deliveryId: freshId(), endpointId: holds, status: 'delivered', lane: 'replay' }),
    ]);
    expect(await endedOf()).toContain(held.id);
  });

  it('the search goes through the keys page by page, whatever waits behind the first of each', async () => {
    const endpointId = await seedOrdered();
    for (const key of ['a', 'b', 'c', 'a', 'a']) await appendAudit(app, [orderedRow({ [endpointId]: key })]);
    const before = { endpointId, key: '' };
    const page = await readKeys(app, before, 2);
    expect(page.keys).toEqual([
      { endpointId, key: 'a' },
      { endpointId, key: 'b' },
    ]);
    const next = await readKeys(app, page.keys[1], 1);
    expect(next.keys).toEqual([{ endpointId, key: 'c' }]);
  });
});

describe('the sequences of webhooks that were accepted while Postgres was down', () => {
  const all = { keysMax: 1_000, deliveriesPerKeyMax: 1_000 };

  it('they are given in the order of acceptance, also to webhooks behind them, and later ones continue', async () => {
    const endpointId = await seedOrdered();
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    const early = [30, 10, 20].map((at) => orderedRow({ [endpointId]: 'a' }, true, at));
    await appendAudit(app, early);
    const behind = orderedRow({ [endpointId]: 'a' }, false, 40);
    await appendAudit(app, [behind]);
    expect(await hasUnsequenced(app)).toBe(true);
    const keys = await sequenceKeys(app, all);
    expect(keys).toContainEqual(expect.objectContaining({ endpointId, key: 'a' }));
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    expect(await sequencesOf(endpointId)).toEqual({ a: [1, 2, 3, 4, 5, 6] });
    const { rows } = await app.query<{ webhook_log_id: string }>(
      'select webhook_log_id from ordered_deliveries where endpoint_id = $1 and sequence between 2 and 5 order by sequence',
      [endpointId],
    );
    const expected = [early[1], early[2], early[0], behind].map((row) => row!.log.id);
    expect(rows.map((row) => row.webhook_log_id)).toEqual(expected);
  });

  it('a key with more of them than one batch takes several batches, and stays closed to others meanwhile', async () => {
    const endpointId = await seedOrdered();
    const rows = Array.from({ length: 5 }, (_, at) => orderedRow({ [endpointId]: 'a' }, true, at));
    await appendAudit(app, rows);
    await sequenceKeys(app, { ...all, deliveriesPerKeyMax: 2 });
    expect(await sequencesOf(endpointId)).toEqual({ a: [1, 2, null, null, null] });
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    await sequenceKeys(app, { ...all, deliveriesPerKeyMax: 4 });
    expect(await sequencesOf(endpointId)).toEqual({ a: [1, 2, 3, 4, 5, 6] });
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' })]);
    expect(await sequencesOf(endpointId)).toEqual({ a: [1, 2, 3, 4, 5, 6, 7] });
  });

  it('a receiver that adds to a key while it is sequenced waits, and its webhook is sequenced too', async () => {
    const endpointId = await seedOrdered();
    await appendAudit(app, [orderedRow({ [endpointId]: 'a' }, true, 1)]);
    const at = (index: number) => 100 + index;
    const adding = Array.from({ length: 10 }, (_, index) =>
      appendAudit(app, [orderedRow({ [endpointId]: 'a' }, false, at(index))]),
    );
    const sequencing = Array.from({ length: 5 }, () => sequenceKeys(app, all));
    await Promise.all([...adding, ...sequencing]);
    await sequenceKeys(app, all);
    const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
    expect(await sequencesOf(endpointId)).toEqual({ a: numbers });
  });
});

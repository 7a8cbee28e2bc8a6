import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let world: World;

beforeAll(async () => {
  world = await createWorld(inject('run'));
});

afterAll(() => world.close());

it('SQL derives the same delivery id as the apps', async () => {
  const pairs = [
    ...Array.from({ length: 500 }, () => [freshId(), freshId()] as const),
    ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const,
  ];
  const { rows } = await world.sql.query<{ id: string }>(
    `select hqrelay_delivery_id(webhook, endpoint) as id
     from unnest($1::uuid[], $2::uuid[]) with ordinality as pair (webhook, endpoint, place) order by place`,
    [pairs.map(([webhook]) => webhook), pairs.map(([, endpoint]) => endpoint)],
  );
  expect(rows.map((row) => row.id)).toEqual(
    pairs.map(([webhook, endpoint]) => deliveryId(webhook, endpoint)),
  );
});

it('SQL reads the same time out of an id as the apps, to the millisecond', async () => {
  const times = [0, 1, 999, 1_000, 1_700_000_000_123, 1_784_000_000_999, 253_402_300_799_999];
  const ids = times.map((time) => newId(time));
  const { rows } = await world.sql.query<{ ms: string }>(
    `select (extract(epoch from hqrelay_time_of(id)::timestamptz(3)) * 1000)::bigint as ms
     from unnest($1::uuid[]) with ordinality as given (id, place) order by place`,
    [ids],
  );
  expect(rows.map((row) => Number(row.ms))).toEqual(ids.map((id) => timeOfId(id)));
  expect(rows.map((row) => Number(row.ms))).toEqual(times);
});

import { orderMarkKey } from '@hqrelay/cache/ordering/order-marks';
import { deliveryId } from '@hqrelay/domain/ids';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();

type OrderedRow = {
  delivery_id: string;
  endpoint_id: string;
  ordering_key: string;
  sequence: string | null;
  accepted_at_us: string;
};

async function orderedOf(webhookLogId: string | undefined): Promise<OrderedRow[]> {
  const { rows } = await world.sql.query<OrderedRow>(
    'select * from ordered_deliveries where webhook_log_id = $1 order by ordering_key',
    [webhookLogId],
  );
  return rows;
}

async function seedOrdered(...orderingKeys: (string | undefined)[]) {
  const project = await seedProject(world);
  const endpoints = await Promise.all(
    orderingKeys.map((orderingKey) =>
      seedEndpoint(world, project.id, { url: 'https://a.example', ...(orderingKey && { orderingKey }) }),
    ),
  );
  return { project, endpointIds: endpoints.map(({ id }) => id) };
}

describe('a webhook of an ordered endpoint', () => {
  it('a webhook that is answered 202 has a sequence for each ordered endpoint that it owes', async () => {
    const { project, endpointIds } = await seedOrdered('/order', 'header:X-Shop', undefined);
    const post = async () => {
      const headers = { 'x-shop': 'shop-1' };
      const answer = await postWebhook(world.url, project, {
        body: `{"order":12345678901234567890,"at":${performance.now()}}`,
        headers,
      });
      expect(answer.statusCode).toBe(202);
      return answer.body.id!;
    };
    const [first, second] = [await post(), await post()] as const;
    const rows = await orderedOf(second);
    expect(rows).toMatchObject([
      { endpoint_id: endpointIds[0], ordering_key: '12345678901234567890', sequence: '2' },
      { endpoint_id: endpointIds[1], ordering_key: 'shop-1', sequence: '2' },
    ]);
    expect(rows[0]!.delivery_id).toBe(deliveryId(second, endpointIds[0]!));
    const before = (await orderedOf(first))[0]!.accepted_at_us;
    expect(BigInt(rows[0]!.accepted_at_us)).toBeGreaterThan(BigInt(before));
  });

  it('a webhook without the value of the key is unordered', async () => {
    const { project } = await seedOrdered('/order');
    const answer = await postWebhook(world.url, project, { body: '{"other":1}' });
    expect(answer.statusCode).toBe(202);
    expect(await orderedOf(answer.body.id)).toEqual([]);
  });

  it('a webhook that is sent again takes no second place', async () => {
    const { project } = await seedOrdered('/order');
    const post = () => postWebhook(world.url, project, { body: '{"order":"a"}', webhookId: 'one' });
    const first = await post();
    await world.forgetInRedis(project.id);
    const again = await post();
    expect(again.body.id).toBe(first.body.id);
    expect(await orderedOf(first.body.id)).toMatchObject([{ sequence: '1' }]);
  });

  it('a webhook gets no sequence while an earlier one of its project may be missing in Postgres', async () => {
    const { project } = await seedOrdered('/order');
    await world.redis.set(orderMarkKey(project.id), String(Date.now()));
    const behind = await postWebhook(world.url, project, { body: '{"order":"a","n":1}' });
    expect(await orderedOf(behind.body.id)).toMatchObject([{ sequence: null }]);
    await world.redis.del(orderMarkKey(project.id));
    const later = await postWebhook(world.url, project, { body: '{"order":"a","n":2}' });
    expect(await orderedOf(later.body.id)).toMatchObject([{ sequence: null }]);
    const other = await postWebhook(world.url, project, { body: '{"order":"b"}' });
    expect(await orderedOf(other.body.id)).toMatchObject([{ sequence: '1' }]);
  });

  it('a webhook whose rows Postgres does not take marks its project', async () => {
    const { project } = await seedOrdered('/order');
    const client = await world.sql.connect();
    await client.query('begin; lock table ordering_keys');
    const post = (n: number) => postWebhook(world.url, project, { body: `{"order":"a","n":${n}}` });
    const spilled = await post(1);
    expect(spilled.statusCode).toBe(202);
    expect(await world.redis.exists(orderMarkKey(project.id))).toBe(1);
    await client.query('rollback');
    client.release();
  });
});

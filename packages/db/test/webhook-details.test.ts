import { timeOfId } from '@hqrelay/domain/ids';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { appendAudit } from '../src/queries/append-audit.ts';
import { readWebhookDetails } from '../src/queries/webhooks.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();

let isAppended = false;
const webhook = webhookRow();
const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
pool.on('connect', appendAfterDeliveries);
afterAll(() => pool.end());

it('the deliveries and the attempts of a webhook are read at the same moment', async () => {
  await appendAudit(app, [webhook]);
  const { id } = webhook.log;
  const read = () => readWebhookDetails(pool, { id, receivedAt: timeOfId(id), bodyBytesMax: 0 });

  const before = await read();
  expect(isAppended).toBe(true);
  expect(before?.deliveries).toMatchObject([{ attempts: 0, lastError: null }]);
  expect(before?.attempts).toEqual([]);
  const after = await read();
  expect(after?.deliveries).toMatchObject([{ attempts: 1 }]);
  expect(after?.attempts).toHaveLength(1);
});

/** Records the webhook's first attempt once the client has read its deliveries. */
function appendAfterDeliveries(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const queryAndAppend = async (...args: unknown[]) => {
    const answer = await query(...args);
    if (!isAppended && String(args[0]).includes('from delivery_status')) {
      isAppended = true;
      await appendAudit(app, [attemptRow(webhook.log)]);
    }
    return answer;
  };
  client.query = queryAndAppend as unknown as typeof client.query;
}

import { deliveryId } from '@hqrelay/domain/ids';
import { expect, it } from 'vitest';
import { appendAudit } from '../src/queries/append-audit.ts';
import { eraseWebhook } from '../src/queries/erase-webhook.ts';
import { insertDeadLetters } from '../src/queries/dead-letters.ts';
import { insertOutbox } from '../src/queries/outbox.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();

it('erasing removes the bytes of dead letters and duplicates in the outbox, and leaves those of other webhooks', async () => {
  const [erased, other] = [webhookRow(), webhookRow()];
  const ends = [erased, other].map(({ log }) => attemptRow(log, { status: 'dead_lettered' }));
  await appendAudit(app, [erased, other, ...ends]);
  for (const { log } of [erased, other]) {
    const [endpointId] = log.endpointIds;
    await insertDeadLetters(
      app,
      [
        {
          id: deliveryId(log.id, endpointId!),
          kind: 'message',
          reason: 'test',
          projectId: log.projectId,
          webhookLogId: log.id,
          endpointId: endpointId!,
          content: Buffer.from('bytes'),
        },
      ],
      Date.now(),
    );
    const message = Buffer.from(`{"v":1,"id":"${log.id}"}body`);
    await insertOutbox(app, { id: deliveryId(log.id, endpointId!), exchange: 'e', routingKey: 'r', message });
  }

  const client = await world.sql.connect();
  const counts = await eraseWebhook(client, erased.log.id, 'test');
  client.release();

  expect(counts).toEqual({ waiting: 0, payloads: 1, held: 0, messages: 1, contents: 1 });
  const { rows } = await world.sql.query<{ id: string }>(
    `select webhook_log_id as id from dead_letters where content is not null and replayed_at is null
     union all select id from webhook_payloads`,
  );
  expect(rows).toEqual([{ id: other.log.id }, { id: other.log.id }]);
  expect((await world.sql.query('select from outbox')).rowCount).toBe(1);
});

it.each([
  ['a minute ahead', 60_000, 1],
  ['past', -1_000, 0],
])(
  'erasing waits for a needless message of a cancelled delivery: the end of its time in the broker is %s',
  async (_when, aheadMs, waiting) => {
    const webhook = webhookRow();
    const [endpointId] = webhook.log.endpointIds;
    await appendAudit(app, [webhook, attemptRow(webhook.log)]);
    await world.sql.query(
      `insert into delivery_decisions (delivery_id, webhook_log_id, endpoint_id, project_id, cancelled_at, in_broker_until)
     values ($1, $2, $3, $4, now(), $5)`,
      [
        deliveryId(webhook.log.id, endpointId!),
        webhook.log.id,
        endpointId,
        webhook.log.projectId,
        new Date(Date.now() + aheadMs),
      ],
    );
    const client = await world.sql.connect();
    const counts = await eraseWebhook(client, webhook.log.id, 'test');
    client.release();
    expect(counts).toMatchObject({ waiting, payloads: 1 - waiting });
  },
);

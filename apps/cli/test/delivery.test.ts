import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();

async function seedWaiting() {
  const projectId = await world.createProject();
  const { endpointId } = await world.addEndpoint(projectId, 'http://127.0.0.1:9/');
  const webhookLogId = await recordWebhook(world.sql, { projectId, endpointIds: [endpointId] });
  return {
    webhookLogId,
    deliveryId: await recordAttempt(world.sql, { projectId, webhookLogId, endpointId }),
  };
}

it('a waiting delivery is retried now and cancelled, and webhook show names both commands', async () => {
  const { webhookLogId, deliveryId } = await seedWaiting();
  const shown = await world.run('webhook', 'show', webhookLogId);
  expect(shown.stdout).toContain(
    `waiting delivery ${deliveryId}: hqrelay delivery retry-now|cancel ${deliveryId}`,
  );
  const retried = await world.run('delivery', 'retry-now', deliveryId, '--json');
  expect(jsonOf(retried)).toMatchObject({ deliveryId, state: 'held', heldReason: 'delay' });
  const cancelled = await world.run('delivery', 'cancel', deliveryId);
  expect(cancelled.stdout).toContain(`The delivery ${deliveryId} is cancelled after 1 attempts.`);
  const { rows } = await world.sql.query(
    'select action, actor from admin_log where target = $1 order by id',
    [deliveryId],
  );
  expect(rows.map(({ action }) => action)).toEqual(['delivery.retry_now', 'delivery.cancel']);
  expect(rows[0].actor).toMatch(/^cli:/);
});

it('a delivery that is retried after it was cancelled fails with exit code 1', async () => {
  const { deliveryId } = await seedWaiting();
  await world.run('delivery', 'cancel', deliveryId);
  expect(await world.run('delivery', 'retry-now', deliveryId)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is cancelled; replay its webhook'),
  });
});

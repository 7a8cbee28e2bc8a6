import { deliveryId, newId } from '@hqrelay/domain/ids';
import { encodeMessage } from '@hqrelay/queue/messages';
import { workExchange } from '@hqrelay/queue/topology';
import { connect } from 'amqplib';
import { ratioLine, rounded, type Scenario } from './scenario.ts';
import { createSite, type Site, type Target } from './site.ts';
import { liveBeside } from './storm.ts';

const name = 'a retry storm of 50,000';

export const retryStorm: Scenario = {
  name,
  run: async (options) => {
    const count = options.quick ? 5_000 : 50_000;
    const site = await createSite({ ...options, targets: 2, workers: 1 });
    try {
      const result = await liveBeside(
        site,
        { start: () => publishRetries(site, count), count },
        { perSecond: 200, quietSeconds: options.quick ? 4 : 15, stormSecondsMax: 400 },
      );
      options.say(`retries at ${rounded(result.perSecond)}/s`);
      return [
        ratioLine(name, `live p95, ms, while retries go at ${rounded(result.perSecond)}/s`, {
          before: result.beforeMs,
          during: result.duringMs,
          atMost: 1.5,
        }),
      ];
    } finally {
      await site.close();
    }
  },
};

/** Publishes second attempts that are all due, as the delay queues do after an outage. */
async function publishRetries(site: Site, count: number): Promise<void> {
  const { id: projectId, endpointId } = site.targets[1] as Target;
  const connection = await connect(site.world.rabbitmqUrl);
  const channel = await connection.createConfirmChannel();
  const body = Buffer.from(JSON.stringify({ event: 'payment.captured', padding: 'x'.repeat(960) }));
  for (let number = 0; number < count; number += 1) {
    const id = newId(Date.now());
    const message = encodeMessage({
      envelope: {
        v: 1,
        id,
        projectId,
        eventType: 'payment.captured',
        correlationId: id,
        endpointIds: [endpointId],
        headers: [['content-type', 'application/json']],
        delivery: {
          deliveryId: deliveryId(id, endpointId),
          endpointId,
          attemptNum: 2,
          lane: 'retry',
          notBefore: Date.now() - 1_000,
        },
      },
      body,
    });
    channel.publish(workExchange, 'hqrelay.retries', message, { persistent: true, mandatory: true });
    if (number % 1_000 === 999) await channel.waitForConfirms();
  }
  await channel.waitForConfirms();
  await connection.close();
}

import { hitBoth, type Row } from '../row.ts';

const alarmMs = 5_000;

/** The broker blocks publishing and closes no connection: webhooks and retries go through the outbox, deliveries continue. */
export const rabbitmqAlarm: Row = {
  name: 'rabbitmq-alarm',
  fault: `RabbitMQ raises its memory alarm for ${alarmMs / 1_000} s`,
  duplicatesBecause:
    'messages from before the alarm are confirmed after it, when the outbox has published their duplicates',
  hit: hitBoth,
  run: async ({ services }, stage) => {
    await stage.fault('the memory alarm is raised', async () => {
      await services.rabbitmqctl('set_vm_memory_high_watermark', 'absolute', '1');
      await stage.wait(alarmMs);
      await services.rabbitmqctl('set_vm_memory_high_watermark', '0.4');
    });
  },
};

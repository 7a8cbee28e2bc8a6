import { hitBoth, type Row } from '../row.ts';

const alarmMs = 5_000;

/** The broker takes no publish and closes nothing: webhooks and retries go through the outbox, deliveries go on. */
export const rabbitmqAlarm: Row = {
  name: 'rabbitmq-alarm',
  fault: `RabbitMQ raises its memory alarm for ${alarmMs / 1_000} s`,
  duplicatesBecause: 'messages that came before the alarm are confirmed after it, when their copies are out',
  hit: hitBoth,
  run: async ({ services }, stage) => {
    await stage.fault('the memory alarm is raised', async () => {
      await services.rabbitmqctl('set_vm_memory_high_watermark', 'absolute', '1');
      await stage.wait(alarmMs);
      await services.rabbitmqctl('set_vm_memory_high_watermark', '0.4');
    });
  },
};

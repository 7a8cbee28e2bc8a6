import type { Row } from '../row.ts';

/** Held deliveries survive every crash during a pause, and a resume releases each of them once. */
export const pauseResumeKills: Row = {
  name: 'pause-resume-kills',
  fault:
    'an endpoint is paused for 10 s while each worker is killed (`kill -9`) and RabbitMQ and Postgres are killed and started again; then resumed, while each worker and RabbitMQ are killed again',
  duplicatesBecause: 'a killed worker had posted and not yet acknowledged',
  mayRefuse: true,
  p99MsMax: 1_000,
  hit: ({ cut, faults }) => (faults.length === 2 ? `${cut} deliveries were cut` : undefined),
  withinMs: 100_000,
  run: async (site, stage) => {
    const { workers } = site;
    const killEach = async () => {
      for (const worker of workers) {
        await worker.end('SIGKILL');
        await stage.wait(200);
        worker.start();
        await worker.waitUntilReady();
      }
    };
    await stage.fault(
      'an endpoint is paused, and the processes that hold its deliveries are killed',
      async () => {
        await site.changeEndpoint('alone', 'paused = true');
        await stage.wait(2_000);
        await killEach();
        for (const name of ['rabbitmq', 'postgres'] as const) {
          await site.server(name).kill();
          await site.server(name).start();
        }
        await stage.wait(3_000);
      },
    );
    await stage.fault('it is resumed, and each worker and RabbitMQ are killed', async () => {
      await site.changeEndpoint('alone', 'paused = false, release_rate = 50');
      await stage.wait(1_000);
      await killEach();
      await site.server('rabbitmq').kill();
      await site.server('rabbitmq').start();
    });
  },
};

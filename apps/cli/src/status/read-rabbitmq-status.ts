import { withTimeout } from '@hqrelay/flow/with-timeout';
import type { ChannelModel } from 'amqplib';
import { down, type Measured, reasonOf, timeoutMs, warnIf } from './dependency-status.ts';

/** Messages ready in each queue of the broker. */
export type RabbitmqFigures = { depths: ReadonlyMap<string, number> | null };

/** The figures of the first node that answers. */
export async function readRabbitmqStatus(urls: readonly string[]): Promise<Measured<RabbitmqFigures>> {
  const reasons: string[] = [];
  for (const url of urls) {
    try {
      return await readNode(url);
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  return down('rabbitmq', [...new Set(reasons)].join('; '));
}

async function readNode(url: string): Promise<Measured<RabbitmqFigures>> {
  const [{ openModel, destroyModel }, { diskWarning }] = await Promise.all([
    import('@hqrelay/queue/connection/open-model'),
    import('@hqrelay/queue/connection/disk-warning'),
  ]);
  const opening = openModel(url, 'hqrelay-cli');
  const opened = opening.then((model) => {
    model.on('error', () => {
      // An 'error' without a listener ends the process; the pending call rejects with the same error.
    });
    return model;
  });
  try {
    const model = await withTimeout(opened, timeoutMs, `no answer within ${timeoutMs} ms`);
    const warnings: string[] = [];
    const [depths] = await Promise.all([
      readDepths(model, warnings),
      warnIf(warnings, () => diskWarning(url)),
    ]);
    return { name: 'rabbitmq', state: 'up', reason: null, figures: { depths }, warnings };
  } finally {
    void opened.then(destroyModel, () => {
      // It never opened.
    });
  }
}

async function readDepths(model: ChannelModel, warnings: string[]): Promise<RabbitmqFigures['depths']> {
  const [{ queueDepths }, { allQueues }] = await Promise.all([
    import('@hqrelay/queue/connection/read-queues'),
    import('@hqrelay/queue/topology'),
  ]);
  try {
    const late = `no answer within ${timeoutMs} ms`;
    return await withTimeout(queueDepths(model, allQueues), timeoutMs, late);
  } catch (error) {
    const isMissing = /NOT_FOUND/.test(reasonOf(error));
    warnings.push(
      isMissing
        ? 'the queues are not declared yet: a receiver or a worker declares them when it starts'
        : `the queues could not be read: ${reasonOf(error)}`,
    );
    return null;
  }
}

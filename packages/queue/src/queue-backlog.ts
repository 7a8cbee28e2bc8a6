import { delayLadder } from '@hqrelay/domain/delivery/retry-schedule';
import { auditQueue, deadLetterQueue, delayName, workQueues } from './topology.ts';

/** The queues by which metrics and `hqrelay status` name a backlog. */
const namedQueues = [
  ...workQueues,
  ...delayLadder.map(({ name }) => delayName(name)),
  deadLetterQueue,
  auditQueue,
];

/** Messages by named queue. A work queue counts together with its sibling for large messages. */
export function backlogOf(depths: ReadonlyMap<string, number>): Map<string, number> {
  const depthOf = (queue: string) => depths.get(queue) ?? 0;
  return new Map(namedQueues.map((queue) => [queue, depthOf(queue) + depthOf(`${queue}.large`)]));
}

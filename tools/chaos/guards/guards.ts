/** A mechanism by which a fault loses nothing, and the row that is red without it. */
export type Guard = {
  /** The fault in `../faults/faults.mjs` that removes the guard has the same name. */
  name: string;
  /** The product's behaviour without it. */
  without: string;
  /** The row that must be red without it, and the reason that it must give. */
  row: string;
  expects: RegExp;
};

export const guards: readonly Guard[] = [
  {
    name: 'record-before-ack',
    without: 'the worker acknowledges a delivery before its attempt is recorded',
    row: 'worker-kill',
    expects: /deliveries were made and are not recorded|attempts have no row/,
  },
  {
    name: 'wait-for-confirm',
    without: 'the receiver answers without waiting for the confirm, and has no outbox',
    row: 'rabbitmq-restart',
    expects: /deliveries are lost/,
  },
  {
    name: 'outbox',
    without: 'the receiver has no outbox for what the broker cannot take',
    row: 'rabbitmq-restart',
    expects: /answers were 503/,
  },
  {
    name: 'audit-spill',
    without: 'audit rows cannot be spilled while Postgres is unavailable',
    row: 'postgres-stopped',
    expects: /answers were 503/,
  },
  {
    name: 'mark-after-publish',
    without: 'an id is accepted before its webhook is durable',
    row: 'rabbitmq-and-postgres-stopped',
    expects: /deliveries are lost/,
  },
  {
    name: 'epoch',
    without: 'an id that Redis has lost counts as new',
    row: 'redis-flushed',
    expects: /under two ids|two queued rows/,
  },
  {
    name: 'redis-origin',
    without: 'the receiver does not notice that another Redis process answers',
    row: 'redis-old-data',
    expects: /under two ids|two queued rows/,
  },
  {
    name: 'idle-transaction-timeout',
    without: 'Postgres does not end the transaction of a worker that is silent',
    row: 'worker-cut-off',
    expects: /the other worker to drain/,
  },
  {
    name: 'hold-before-ack',
    without: 'the worker acknowledges a delivery before Postgres has committed that it is held',
    row: 'pause-resume-kills',
    expects: /deliveries are lost/,
  },
  {
    name: 'confirm-before-forget',
    without: 'held deliveries are deleted before the broker has confirmed them',
    row: 'pause-resume-kills',
    expects: /deliveries are lost/,
  },
  {
    name: 'turn',
    without: 'a worker posts the deliveries of an ordered endpoint without their turn',
    row: 'ordered-worker-kill',
    expects: /arrived after a later one of their key/,
  },
  {
    name: 'order-mark',
    without: 'later webhooks of a project do not wait for those whose rows are spilled',
    row: 'ordered-postgres-stopped',
    expects: /arrived after a later one of their key/,
  },
  {
    name: 'breaker',
    without: 'the breaker of an endpoint that fails never opens',
    row: 'endpoint-down-long',
    expects: /the breaker to open/,
  },
];

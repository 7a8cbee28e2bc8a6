import type { Patch } from '../../harness/app-copy.ts';

/** Something the product does so that a fault loses nothing, and how to take it out of what was built. */
export type Guard = {
  name: string;
  /** What the product would do without it. */
  without: string;
  patches: readonly Patch[];
  /** The row that must go red without it, and what it must say. */
  row: string;
  expects: RegExp;
};

const makeDurable = 'apps/receiver/dist/ingest/make-durable.js';
const ifBrokerIsAway = 'if (!deps.publisher.health.isUp) {';

export const guards: readonly Guard[] = [
  {
    name: 'record-before-ack',
    without: 'the worker acknowledges a delivery before its attempt is recorded',
    patches: [
      {
        file: 'apps/worker/dist/delivery/deliver.js',
        find: 'await recordAttempt(deps, attempted)',
        replace:
          '(void recordAttempt(deps, attempted), { ...attempted, followUp: attempted.attempt.followUp, isResumed: false })',
      },
    ],
    row: 'worker-kill',
    expects: /deliveries were made and are not recorded|attempts have no row/,
  },
  {
    name: 'wait-for-confirm',
    without: 'the receiver answers without waiting for the confirm, and has no outbox',
    patches: [
      { file: makeDurable, find: ifBrokerIsAway, replace: 'if (false) {' },
      {
        file: makeDurable,
        find: 'const result = await deps.publisher.publish({',
        replace: "const result = { kind: 'confirmed' };\n    void deps.publisher.publish({",
      },
    ],
    row: 'rabbitmq-restart',
    expects: /deliveries are lost/,
  },
  {
    name: 'outbox',
    without: 'the receiver has no outbox for what the broker cannot take',
    patches: [
      {
        file: makeDurable,
        find: ifBrokerIsAway,
        replace: `${ifBrokerIsAway}\n        return { kind: 'failed', reason: 'no outbox' };`,
      },
      {
        file: makeDurable,
        find: 'const stored = await deps.postgres.tryWithin(',
        replace: 'const stored = await Promise.resolve(undefined) ?? (() => undefined)(',
      },
    ],
    row: 'rabbitmq-restart',
    expects: /answers were 503/,
  },
  {
    name: 'audit-spill',
    without: 'audit rows have nowhere to go while Postgres is away',
    patches: [
      {
        file: 'packages/audit/dist/audit-recorder.js',
        find: 'async #spill(rows) {',
        replace: "async #spill(rows) {\n        if (rows) return rows.map(() => 'unavailable');",
      },
    ],
    row: 'postgres-stopped',
    expects: /answers were 503/,
  },
  {
    name: 'mark-after-publish',
    without: 'an id is marked as seen before its webhook is durable',
    patches: [
      {
        file: 'apps/receiver/dist/ingest/ingest.js',
        find: 'const outcome = await makeDurable(',
        replace: "admission.settle('seen');\n            const outcome = await makeDurable(",
      },
    ],
    row: 'rabbitmq-and-postgres-stopped',
    expects: /deliveries are lost/,
  },
  {
    name: 'epoch',
    without: 'a Redis that has forgotten is taken for one that never knew',
    patches: [
      {
        file: 'apps/receiver/dist/reservation/admit.js',
        find: 'const forgetful = ',
        replace: 'const forgetful = false && ',
      },
    ],
    row: 'redis-flushed',
    expects: /under two ids|two queued rows/,
  },
  {
    name: 'hold-before-ack',
    without: 'the worker acknowledges a delivery before Postgres has committed that it is held',
    patches: [
      {
        file: 'apps/worker/dist/outgoing/hold.js',
        find: 'const isStored = await deps.storeHeld(',
        replace: 'const isStored = true;\n    void deps.storeHeld(',
      },
    ],
    row: 'pause-resume-kills',
    expects: /deliveries are lost/,
  },
  {
    name: 'confirm-before-forget',
    without: 'held deliveries are forgotten before the broker has confirmed them',
    patches: [
      {
        file: 'apps/worker/dist/jobs/release-held.js',
        find: 'const result = await publisher.publish(',
        replace: "const result = { kind: 'confirmed' };\n        void publisher.publish(",
      },
    ],
    row: 'pause-resume-kills',
    expects: /deliveries are lost/,
  },
  {
    name: 'breaker',
    without: 'an endpoint that fails is never left alone',
    patches: [
      {
        file: 'packages/domain/dist/delivery/breaker.js',
        find: 'if (!breaker || breaker.state ===',
        replace: 'if (true || breaker.state ===',
      },
    ],
    row: 'endpoint-down-long',
    expects: /the breaker to open/,
  },
];

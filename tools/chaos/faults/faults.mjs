// Each fault removes one guard from an app: it replaces exported functions or classes of the built app as the app loads them.

/** @typedef {(...args: any[]) => any} AnyFunction */
/**
 * @typedef {object} Fault
 * @property {'receiver' | 'worker' | 'both'} app
 * @property {string} module of the built tree
 * @property {string} name of the export
 * @property {(original: any, used: () => void) => unknown} replace returns what takes the export's place; `used` says that it ran
 */

/** @type {Readonly<Record<string, readonly Fault[]>>} */
export const faults = {
  'record-before-ack': [
    {
      app: 'worker',
      module: 'packages/audit/dist/audit-recorder.js',
      name: 'AuditRecorder',
      replace: (AuditRecorder, used) =>
        withMethod(AuditRecorder, 'record', (record, [row]) => {
          if (row.kind !== 'attempt') return record(row);
          used();
          // Long after the acknowledgement, which may wait to be sent with others.
          setTimeout(() => void record(row), 300);
          return Promise.resolve('stored');
        }),
    },
  ],
  'wait-for-confirm': [
    {
      app: 'receiver',
      module: 'packages/queue/dist/publishing/publisher.js',
      name: 'Publisher',
      replace: (Publisher, used) => {
        Publisher.prototype.mayPublishTo = () => true;
        return withMethod(Publisher, 'publish', (publish, [publication]) => {
          used();
          void publish(publication);
          return Promise.resolve({ kind: 'confirmed' });
        });
      },
    },
  ],
  outbox: [
    {
      app: 'receiver',
      module: 'packages/audit/dist/audit-recorder.js',
      name: 'AuditRecorder',
      replace: (AuditRecorder, used) =>
        withMethod(AuditRecorder, 'record', (record, [row]) => {
          if (row.outbox === undefined) return record(row);
          used();
          return Promise.resolve('unavailable');
        }),
    },
    {
      app: 'receiver',
      module: 'packages/db/dist/queries/outbox.js',
      name: 'insertOutbox',
      replace: () => () => Promise.reject(new Error('no outbox')),
    },
  ],
  'audit-spill': [
    {
      app: 'both',
      module: 'packages/queue/dist/publishing/publisher.js',
      name: 'Publisher',
      replace: (Publisher, used) =>
        withMethod(Publisher, 'publish', (publish, [publication]) => {
          if (publication.routingKey !== 'hqrelay.audit') return publish(publication);
          used();
          return Promise.resolve({ kind: 'failed', reason: 'disconnected', maybeStored: false });
        }),
    },
  ],
  'mark-after-publish': [
    {
      app: 'receiver',
      module: 'apps/receiver/dist/reservation/reserve.js',
      name: 'reserve',
      replace:
        (reserve, used) =>
        async (/** @type {unknown[]} */ ...args) => {
          const reserved = await reserve(...args);
          if (reserved.kind === 'admitted') {
            used();
            reserved.accept();
          }
          return reserved;
        },
    },
  ],
  epoch: [
    {
      app: 'receiver',
      module: 'packages/domain/dist/inbound/reservation.js',
      name: 'needsLookUp',
      replace: (_, used) => () => {
        used();
        return false;
      },
    },
  ],
  'redis-origin': [
    {
      app: 'receiver',
      module: 'packages/cache/dist/redis-origin.js',
      name: 'readOrigin',
      replace: (readOrigin, used) => {
        /** @type {Promise<string> | undefined} */
        let first;
        return (/** @type {unknown} */ redis) => {
          if (first) used();
          first ??= readOrigin(redis);
          return first;
        };
      },
    },
  ],
  'idle-transaction-timeout': [
    {
      app: 'worker',
      module: 'packages/db/dist/in-transaction.js',
      name: 'inTransaction',
      replace: (inTransaction, used) => (/** @type {unknown} */ pool, /** @type {AnyFunction} */ work) =>
        inTransaction(pool, async (/** @type {{ query: AnyFunction }} */ client) => {
          used();
          await client.query(
            'set local idle_in_transaction_session_timeout = 0; set local tcp_user_timeout = 0',
          );
          return work(client);
        }),
    },
  ],
  'hold-before-ack': [
    {
      app: 'worker',
      module: 'apps/worker/dist/outgoing/hold.js',
      name: 'createStoreHeld',
      replace:
        (createStoreHeld, used) =>
        (/** @type {unknown[]} */ ...args) => {
          const storeHeld = createStoreHeld(...args);
          return (/** @type {unknown} */ held) => {
            used();
            void storeHeld(held);
            return Promise.resolve(true);
          };
        },
    },
  ],
  'confirm-before-forget': ['held-deliveries.js#releaseDue', 'endpoint-releases.js#releaseOfEndpoint'].map(
    (target) => {
      const [file, name = ''] = target.split('#');
      return {
        app: 'worker',
        module: `packages/db/dist/queries/${file}`,
        name,
        replace:
          (release, used) =>
          (/** @type {[unknown, unknown, AnyFunction]} */ ...[pool, options, publish]) =>
            release(pool, options, (/** @type {unknown} */ held) => {
              used();
              void publish(held);
              return Promise.resolve(true);
            }),
      };
    },
  ),
  turn: [
    {
      app: 'worker',
      module: 'packages/db/dist/queries/ordered-turns.js',
      name: 'takeTurns',
      replace: (_, used) => (/** @type {unknown} */ _pool, /** @type {unknown[]} */ asked) => {
        used();
        return Promise.resolve(asked.map(() => ({ kind: 'unordered' })));
      },
    },
  ],
  'order-mark': [
    {
      app: 'receiver',
      module: 'packages/cache/dist/ordering/order-marks.js',
      name: 'markBehind',
      replace: (_, used) => () => {
        used();
        return Promise.resolve(true);
      },
    },
  ],
  breaker: [
    {
      app: 'worker',
      module: 'packages/domain/dist/delivery/breaker.js',
      name: 'afterFailures',
      replace: (_, used) => (/** @type {unknown} */ before) => {
        used();
        return before;
      },
    },
  ],
};

/**
 * The class, with one method replaced. Throws when it has no such method.
 *
 * @param {{ name: string; prototype: Record<string, AnyFunction> }} Class
 * @param {string} method
 * @param {(original: AnyFunction, args: any[]) => unknown} replacement
 */
function withMethod(Class, method, replacement) {
  const original = Class.prototype[method];
  if (typeof original !== 'function') throw new Error(`${Class.name} has no method ${method}`);
  Class.prototype[method] = function (...args) {
    return replacement(original.bind(this), args);
  };
  return Class;
}

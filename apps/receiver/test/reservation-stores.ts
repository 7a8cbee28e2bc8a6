import { Cache } from '@hqrelay/cache/client';
import { Postgres } from '@hqrelay/db/postgres';
import { reservationMs } from '@hqrelay/domain/inbound/reservation';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { inject } from 'vitest';
import { createPostgresStore } from '../src/reservation/postgres-store.ts';
import { createRedisStore } from '../src/reservation/redis-store.ts';
import { RedisTrust } from '../src/reservation/redis-trust.ts';
import type { ReservationStore } from '../src/reservation/reservation-store.ts';

/** A store, the keys of a project in it (`<state> <id>` by name), and a function that ends their leases. */
export type OpenStore = {
  store: ReservationStore;
  keysOf: (projectId: string) => Promise<Record<string, string>>;
  expire: (projectId: string) => Promise<unknown>;
};

export type OpenStores = Awaited<ReturnType<typeof openStores>>;

const contentPrefix = '\u0001';

/** Both stores of reservations, on the servers of the run. */
export async function openStores() {
  const world = await createWorld(inject('run'));
  const postgres = new Postgres({
    url: world.databaseUrl,
    applicationName: 'test',
    max: 6,
    onChange: () => {},
  });
  const cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {} });
  cache.start();
  await postgres.start();
  await waitFor('both stores', () => cache.health.isUp && postgres.health.isUp);
  return {
    postgres,
    inPostgres: postgresOf(postgres),
    inRedis: redisOf(cache),
    async close() {
      await cache.close();
      await postgres.close();
      await world.close();
    },
  };
}

function postgresOf(postgres: Postgres): OpenStore {
  const names = { reserved: 'reserved', seen: 'accepted', retryable: 'released' };
  return {
    store: createPostgresStore(postgres),
    async keysOf(projectId) {
      const { rows } = await postgres.pool.query<{ name: string; state: keyof typeof names; id: string }>(
        'select webhook_id as name, state, webhook_log_id as id from idempotency_keys where project_id = $1',
        [projectId],
      );
      const keys = rows.map(({ name, state, id }) => {
        return [name.startsWith(contentPrefix) ? 'content' : name, `${names[state]} ${id}`] as const;
      });
      return Object.fromEntries(keys);
    },
    expire: (projectId) =>
      postgres.pool.query(
        `update idempotency_keys set reserved_at = reserved_at - $2 * interval '1 ms' where project_id = $1`,
        [projectId, reservationMs],
      ),
  };
}

function redisOf(cache: Cache): OpenStore {
  const names: Record<string, string> = { P: 'reserved', S: 'accepted', F: 'released' };
  const trust = new RedisTrust(cache);
  const valuesOf = async (projectId: string) => {
    const keys = [
      ...['i', 'j'].map((name) => [name, `hqrelay:idempotency:{${projectId}}:${name}`] as const),
      ['content', `hqrelay:content:{${projectId}}:content`] as const,
    ];
    const values = await Promise.all(keys.map(([, key]) => cache.redis.get(key)));
    return keys.flatMap(([name, key], index) => {
      const value = values[index];
      return value ? [{ name, key, fields: value.split('|') }] : [];
    });
  };
  return {
    store: createRedisStore({ cache, trust, findPrior: async () => null, onNearLimit: () => {} }),
    async keysOf(projectId) {
      const values = await valuesOf(projectId);
      return Object.fromEntries(
        values.map(({ name, fields: [letter = '', id] }) => [name, `${names[letter]} ${id}`]),
      );
    },
    async expire(projectId) {
      for (const { key, fields } of await valuesOf(projectId)) {
        const aged = [...fields.slice(0, -1), Number(fields.at(-1)) - reservationMs];
        await cache.redis.set(key, aged.join('|'), 'KEEPTTL');
      }
    },
  };
}

import type { Postgres } from '@hqrelay/db/postgres';
import {
  acceptKeys,
  releaseKeys,
  reserveKeys,
  type KeyRequest as DbKeyRequest,
  type KeyReservation,
} from '@hqrelay/db/queries/idempotency-keys';
import { findPriorWebhooks } from '@hqrelay/db/queries/prior-webhooks';
import { decidingPrior, reservationMs, type PriorWebhook } from '@hqrelay/domain/inbound/reservation';
import { batchedQuery } from '../batched-query.ts';
import type { KeyRequest, ReservationHandle, ReservationStore } from './reservation-store.ts';

export type PostgresStore = ReservationStore & {
  /** The prior webhook of the request's keys; null also when Postgres does not answer. */
  findPrior: (request: KeyRequest) => Promise<PriorWebhook | null>;
};

type Statements = ReturnType<typeof createStatements>;

/** Reservations in Postgres, for the time that Redis is unavailable. The rate limit is open then. */
export function createPostgresStore(postgres: Postgres): PostgresStore {
  const statements = createStatements(postgres);
  const findPrior = (request: KeyRequest) => readPrior(statements, request);
  return {
    findPrior,
    async reserve(request) {
      const keys = keysOf(request);
      const reserved = await reserveAll(statements, keys);
      if (!reserved) return undefined;
      return {
        kind: 'held',
        ...reserved,
        // Redis may have accepted the webhook before it became unavailable: only its row shows that.
        prior: reserved.isMine ? await findPrior(request) : null,
        hasOwnRow: true,
        handle: createHandle(statements, keys),
      };
    },
  };
}

/** Each for one key: those that are called at the same time share a statement. */
function createStatements(postgres: Postgres) {
  return {
    reserve: batchedQuery(postgres, reserveKeys),
    accept: batchedQuery(postgres, withoutOutcome(acceptKeys)),
    release: batchedQuery(postgres, withoutOutcome(releaseKeys)),
    readPrior: batchedQuery(postgres, findPriorWebhooks),
  };
}

async function readPrior(statements: Statements, request: KeyRequest): Promise<PriorWebhook | null> {
  const keys = keysOf(request);
  const [byId = null, ...byContent] = await Promise.all(
    [keys.id, ...keys.content].map(async (key) => (await statements.readPrior(key)) ?? null),
  );
  const found = [byId, ...byContent.map((each) => each && { ...each, byContent: true })];
  return decidingPrior(found, request.payloadSha256);
}

/**
 * The id's key first, so that duplicates of one id do not wait for each other. The content's keys decide the webhook's id:
 * a crashed request may have left another one under the webhook id, and the content may have been accepted meanwhile.
 */
async function reserveAll(statements: Statements, keys: Keys): Promise<KeyReservation | undefined> {
  const byId = await statements.reserve(keys.id);
  if (!byId?.isMine) return byId;
  let { held } = byId;
  const reserved = [keys.id];
  for (const key of keys.content) {
    const byContent = await statements.reserve({ ...key, id: held.id });
    if (!byContent) continue;
    if (!byContent.isMine) {
      await releaseAll(statements, reserved);
      return byContent;
    }
    reserved.push(key);
    held = byContent.held;
  }
  return { held, isMine: true };
}

function createHandle(statements: Statements, keys: Keys): ReservationHandle {
  return {
    accept(as, stands) {
      const standing = [...(stands.id ? [keys.id] : []), ...(stands.content ? keys.content : [])];
      const others = [...(stands.id ? [] : [keys.id]), ...(stands.content ? [] : keys.content)];
      // Keys that cannot be accepted now are taken over by the next request, which finds the webhook's row.
      for (const key of standing) void statements.accept({ ...key, ...as }).catch(() => undefined);
      void releaseAll(statements, others);
    },
    release() {
      void releaseAll(statements, [keys.id, ...keys.content]);
    },
  };
}

/** A key whose release fails stays reserved until its reservation is 10 s old. */
async function releaseAll(statements: Statements, keys: readonly DbKeyRequest[]): Promise<void> {
  await Promise.all(keys.map((key) => statements.release(key).catch(() => undefined)));
}

type Keys = { id: DbKeyRequest; content: DbKeyRequest[] };

/** The keys of a request: its webhook id's, and its content's under names that no webhook id can have. */
function keysOf(request: KeyRequest): Keys {
  const { contentKeys, idempotencyTtlSeconds } = request;
  const reservationSeconds = reservationMs / 1_000;
  const id = { ...request, isBody: false, windowSeconds: idempotencyTtlSeconds, reservationSeconds };
  const content = contentKeys.map(({ name, isBody, ttlSeconds }) => ({
    ...id,
    webhookId: `\u0001${name}`,
    isBody,
    windowSeconds: ttlSeconds,
  }));
  return { id, content };
}

function withoutOutcome<Pool, Item>(statement: (pool: Pool, items: readonly Item[]) => Promise<void>) {
  return async (pool: Pool, items: readonly Item[]): Promise<undefined[]> => {
    await statement(pool, items);
    return items.map(() => undefined);
  };
}

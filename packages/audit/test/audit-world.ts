import { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow, DeliveryAttemptRow } from '@hqrelay/db/queries/append-audit';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { decodeParked } from '@hqrelay/queue/parked';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { auditQueue, deadLetterQueue } from '@hqrelay/queue/topology';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, inject } from 'vitest';
import { AuditRecorder } from '../src/audit-recorder.ts';
import { drainSpill } from '../src/drain-spill.ts';

export type AuditWorld = Awaited<ReturnType<typeof startAuditWorld>>;

/** The world of `startAuditWorld`, until the file's tests are over. */
export async function openAuditWorld(): Promise<AuditWorld> {
  const world = await startAuditWorld();
  afterAll(() => world.close());
  return world;
}

/** A world with an audit recorder, and a Postgres of its own that a test may stop. */
export async function startAuditWorld(options: { diskMib?: number } = {}) {
  const world = await createWorld(inject('run'), { own: ['postgres'], ...options });
  // Commits survive a test that kills the server.
  const database = new URL(world.ownerDatabaseUrl).pathname.slice(1);
  await world.sql.query(`alter database ${database} set synchronous_commit = on`);
  const onChange = () => {};
  const postgres = new Postgres({ url: world.databaseUrl, applicationName: 'audit', max: 5, onChange });
  const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'audit', onChange });
  const publisher = new Publisher({ name: 'audit', connection, confirmTimeoutMs: 5_000, inFlightMax: 100 });
  /** Never connected. */
  const noPublisher = new Publisher({
    name: 'none',
    connection: new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'none', onChange }),
    confirmTimeoutMs: 1_000,
    inFlightMax: 1,
  });
  const observed = { spilled: 0, parked: [] as string[], lost: 0, statements: 0 };
  const recorderWith = (given: Publisher) =>
    new AuditRecorder({
      postgres,
      publisher: given,
      onSpilled: (rows) => (observed.spilled += rows),
      onParked: (_row, reason) => observed.parked.push(reason),
      onBackgroundRowsLost: (rows) => (observed.lost += rows),
    });
  const recorder = recorderWith(publisher);
  postgres.pool.on('acquire', () => (observed.statements += 1));
  connection.start();
  await postgres.start();
  await waitFor('the stores', () => postgres.health.isUp && publisher.health.isUp);

  return {
    ...world,
    postgres,
    publisher,
    recorder,
    withoutBroker: recorderWith(noPublisher),
    anotherWithoutBroker: () => recorderWith(noPublisher),
    /** The reports of the recorders, and the number of statements that were sent to Postgres. */
    observed,
    drain: (stopping?: AbortSignal) => drainSpill({ postgres, connection, publisher }, stopping),
    spill: (body: Buffer) => publisher.publish({ exchange: '', routingKey: auditQueue, body }),
    async takeParked() {
      const parked: NonNullable<ReturnType<typeof decodeParked>>[] = [];
      await connection.pull(deadLetterQueue, async (content) => {
        const each = decodeParked(content);
        if (each) parked.push(each);
      });
      return parked;
    },
    async stored(rows: readonly AuditRow[]): Promise<number> {
      const { rows: counts } = await world.sql.query<{ count: number }>(
        `select (select count(*) from webhook_logs where id = any($1))::int
           + (select count(*) from delivery_attempts where id = any($1))::int as count`,
        [rows.map((row) => (row.kind === 'webhook' ? row.log.id : row.attempt.id))],
      );
      return counts[0]?.count ?? 0;
    },
    waitUntilPostgresIs: (state: 'up' | 'down') =>
      waitFor(`Postgres to be ${state}`, () => postgres.health.state === state),
    /**
     * Runs a test of rows that Postgres stores, and again when rows spilled during a run that failed. A busy machine can make a
     * commit take longer than the recorder waits.
     */
    async whilePostgresKeepsUp(run: () => Promise<void>): Promise<void> {
      for (let left = 4; ; left -= 1) {
        observed.spilled = 0;
        try {
          return await run();
        } catch (error) {
          if (observed.spilled === 0 || left === 0) throw error;
          // For two seconds after a commit that took too long the recorder spills every row.
          await waitFor('a row to be stored', async () => (await recorder.record(webhook())) === 'stored');
        }
      }
    },
    async close() {
      await Promise.all([connection.stop(), postgres.close()]);
      await world.close();
    },
  };
}

export function webhook(payload: Buffer = Buffer.from('{}'), id = freshId()): AuditRow {
  return {
    kind: 'webhook',
    log: {
      id,
      projectId: freshId(),
      webhookId: id,
      eventType: null,
      status: 'queued',
      reason: null,
      endpointIds: [],
      duplicateOf: null,
      payloadSha256: null,
      payloadBytes: payload.length,
      remoteAddr: null,
      correlationId: 'test',
    },
    payload: { payload, headers: [['x-a', 'b']], query: '?q' },
  };
}

export function attempt(changes: Partial<DeliveryAttemptRow> = {}): Extract<AuditRow, { kind: 'attempt' }> {
  return {
    kind: 'attempt',
    attempt: {
      id: freshId(),
      deliveryId: freshId(),
      webhookLogId: freshId(),
      projectId: freshId(),
      endpointId: freshId(),
      lane: 'live',
      attemptNum: 1,
      status: 'delivered',
      statusCode: 200,
      latencyMs: 1,
      error: null,
      responseBody: null,
      correlationId: 'test',
      nextAttemptAt: null,
      ...changes,
    },
  };
}

/** Webhooks and attempts in turn. */
export function manyRows(count: number): AuditRow[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? webhook(Buffer.from(`payload ${index}`)) : attempt(),
  );
}

import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import { Cache } from '@hqrelay/cache/client';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { disableEndpoint } from '@hqrelay/db/queries/disable-endpoint';
import { newId } from '@hqrelay/domain/ids';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createSender } from '@hqrelay/outbound/send-request';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { BrokerConnection } from '@hqrelay/queue/connection';
import { Consumer } from '@hqrelay/queue/consumer';
import { decodeMessage, encodeMessage, type DeliveryFields, type Envelope } from '@hqrelay/queue/messages';
import { decodeParked } from '@hqrelay/queue/parked';
import { Publisher, type Publication, type PublishResult } from '@hqrelay/queue/publisher';
import { deadLetterQueue, workExchange, workQueues, type WorkQueue } from '@hqrelay/queue/topology';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { inject } from 'vitest';
import { EndpointGate } from '../src/endpoint/endpoint-gate.ts';
import { createStoreHeld } from '../src/outgoing/hold.ts';
import { LiveFirst } from '../src/intake/live-first.ts';
import { OneAtATime } from '../src/delivery/one-at-a-time.ts';
import { createHistories } from '../src/delivery/delivery-histories.ts';
import { dispatch, type DispatchDeps } from '../src/delivery/dispatch.ts';
import { releaseHeld } from '../src/jobs/release-held.ts';
import { createStoreDeadLetters, type StoreDeadLettersDeps } from '../src/jobs/store-dead-letters.ts';

export type AttemptInSql = {
  delivery_id: string;
  endpoint_id: string;
  lane: string;
  attempt_num: number;
  status: string;
  status_code: number | null;
  latency_ms: number;
  error: string | null;
  response_body: string | null;
  attempted_at: Date;
  next_attempt_at: Date | null;
};

export type DeadLetterInSql = {
  id: string;
  kind: string;
  reason: string;
  project_id: string | null;
  webhook_log_id: string | null;
  endpoint_id: string | null;
  content: Buffer | null;
  dead_at: Date;
  replay_id: string | null;
};

class RecordingPublisher extends Publisher {
  readonly published: Publication[] = [];

  override publish(publication: Publication): Promise<PublishResult> {
    this.published.push(publication);
    return super.publish(publication);
  }
}

export type WorkerWorld = Awaited<ReturnType<typeof startWorkerWorld>>;

/**
 * A world with a worker in this very process, so that a test holds its clock and its jobs in hand: it consumes, and runs
 * no job by itself.
 */
export async function startWorkerWorld(options: Parameters<typeof createWorld>[1] = {}) {
  const world = await createWorld(inject('run'), options);
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const errors: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const breakerChanges: [string, string][] = [];
  const crew = { size: 1 };
  const onChange = () => {};
  const postgres = new Postgres({ url: world.databaseUrl, applicationName: 'worker', max: 10, onChange });
  const cache = new Cache({ url: world.redisUrl, name: 'worker', onChange });
  const publishing = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'publishing', onChange });
  const consuming = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'consuming', onChange });
  const publisher = new RecordingPublisher({
    name: 'deliveries',
    connection: publishing,
    confirmTimeoutMs: 1_000,
    inFlightMax: 1_000,
  });
  const receiver = new Publisher({
    name: 'webhooks',
    connection: publishing,
    confirmTimeoutMs: 5_000,
    inFlightMax: 1_000,
  });
  const recorder = new AuditRecorder({
    postgres,
    publisher,
    onSpilled: () => {},
    onParked: (_row, reason) => errors.push(reason),
    onBackgroundRowsLost: () => {},
  });
  const directory = new ProjectDirectory({ cache, postgres, ttlSeconds: 300 });
  /** What stands in Redis and here is gone, as after an announced change. */
  const forget = async (projectId: string) => {
    await announceProjectChange(cache.redis, projectId);
    directory.forget(projectId);
  };
  const gate = new EndpointGate({
    postgres,
    now,
    workers: () => crew.size,
    slotsTotal: 1_000,
    onChange: (endpointId, state) => breakerChanges.push([endpointId, state]),
    onError: (error) => errors.push(String(error)),
  });
  const deps: DispatchDeps = {
    oneAtATime: new OneAtATime(),
    liveFirst: new LiveFirst(now),
    postgres,
    publisher,
    recorder,
    readHistory: createHistories(postgres),
    storeHeld: createStoreHeld(postgres, now),
    gate,
    sender: createSender({
      policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
      connectionsPerOrigin: 100,
      idleConnectionsMax: 100,
    }),
    secrets: new OpenedSecrets(parseSecretKeys(world.secretsKey), (error) => errors.push(String(error))),
    findProject: (projectId, at) => directory.find(projectId, at),
    disableEndpoint: async (projectId, endpointId, reason) => {
      await postgres.tryWithin(1_000, (pool) => disableEndpoint(pool, endpointId, reason));
      await forget(projectId);
    },
    report: () => {},
    onUnreadable: () => {},
    now,
    random: () => 0,
  };
  const consumers = workQueues.map(
    (queue) =>
      new Consumer({
        queue,
        connection: consuming,
        prefetch: 100,
        handle: (message) => dispatch(deps, message),
        onError: (error) => errors.push(String(error)),
      }),
  );
  const endpoints: RecordingEndpoint[] = [];

  cache.start();
  publishing.start();
  consuming.start();
  await postgres.start();
  const waitUntilUp = () =>
    waitFor(
      'the worker to be up',
      () => postgres.health.isUp && publisher.health.isUp && consumers.every((each) => each.isConsuming),
      { timeoutMs: 30_000 },
    );
  await waitUntilUp();

  const log = (fields: object, message?: string) => void logged.push({ ...fields, message });
  const logger = { warn: log, error: log } as unknown as StoreDeadLettersDeps['logger'];
  const storeDeadLettersDeps = { postgres, connection: publishing, publisher, logger, now };
  const storeDeadLetters = createStoreDeadLetters(storeDeadLettersDeps);

  const publish = async (body: Buffer, exchange: string, routingKey: string) => {
    const result = await receiver.publish({ exchange, routingKey, body });
    if (result.kind !== 'confirmed') throw new Error(`not published: ${result.reason}`);
  };

  return {
    ...world,
    deps,
    gate,
    breakerChanges,
    crew,
    clock,
    now,
    postgres,
    publisher,
    publishing,
    consumers,
    waitUntilUp,
    /** What handlers threw and what was parked instead of stored: nothing, unless a test is about it. */
    errors,
    /** What the job of dead letters has logged. */
    logged,
    storeDeadLettersDeps,
    /** A project with an endpoint for each of `hows`, each of them a server that records. */
    async seed(...hows: { retry?: string; timeoutMs?: number }[]) {
      const project = await seedProject(world);
      const seeded = await Promise.all(
        hows.map(async (how) => {
          const endpoint = await startRecordingEndpoint();
          endpoints.push(endpoint);
          return { endpoint, ...(await seedEndpoint(world, project.id, { url: endpoint.url, ...how })) };
        }),
      );
      return { projectId: project.id, endpoints: seeded };
    },
    forget,
    /** Changes an endpoint, and everybody hears of it. */
    async changeEndpoint(projectId: string, endpointId: string, changes: string): Promise<void> {
      await world.sql.query(`update endpoints set ${changes} where id = $1`, [endpointId]);
      await forget(projectId);
    },
    /** The message of a webhook as a receiver publishes it, with what a test wants to be otherwise. */
    message(projectId: string, envelope: Partial<Envelope> = {}, body = Buffer.from('{}')): Buffer {
      return encodeMessage({
        envelope: {
          v: 1,
          id: newId(),
          projectId,
          eventType: null,
          correlationId: 'test',
          endpointIds: [],
          headers: [],
          ...envelope,
        },
        body,
      });
    },
    send: (content: Buffer, queue: WorkQueue = 'hqrelay.webhooks') => publish(content, workExchange, queue),
    /** As the broker gives a message out again after whoever had it is gone. */
    redeliver: (content: Buffer) => dispatch(deps, { content, redelivered: true }),
    /** What the worker has published of one webhook's deliveries: where to, and what. */
    publishedOf(webhookLogId: string): (DeliveryFields & { exchange: string; routingKey: string })[] {
      return publisher.published.flatMap(({ exchange, routingKey, body }) => {
        const decoded = decodeMessage(decodeParked(body)?.content ?? body);
        if (decoded.kind !== 'message' || decoded.message.envelope.id !== webhookLogId) return [];
        const { delivery } = decoded.message.envelope;
        return delivery ? [{ ...delivery, exchange, routingKey }] : [];
      });
    },
    async attemptsOf(webhookLogId: string): Promise<AttemptInSql[]> {
      const { rows } = await world.sql.query<AttemptInSql>(
        'select * from delivery_attempts where webhook_log_id = $1 order by attempt_num, attempted_at',
        [webhookLogId],
      );
      return rows;
    },
    waitForAttempts(webhookLogId: string, count: number, timeoutMs = 15_000): Promise<AttemptInSql[]> {
      return waitFor(
        `${count} attempts`,
        async () => {
          const attempts = await this.attemptsOf(webhookLogId);
          return attempts.length >= count && attempts;
        },
        { timeoutMs },
      );
    },
    async held() {
      const { rows } = await world.sql.query<{
        delivery_id: string;
        webhook_log_id: string;
        reason: string;
        due_at: Date;
        held_at: Date;
        queue: string;
      }>(
        'select delivery_id, webhook_log_id, reason, due_at, held_at, queue from held_deliveries order by due_at',
      );
      return rows;
    },
    waitForHeld(webhookLogId: string) {
      return waitFor('the delivery to be held', async () =>
        (await this.held()).find((row) => row.webhook_log_id === webhookLogId),
      );
    },
    releaseHeld: () => releaseHeld({ postgres, publisher, gate, now }),
    storeDeadLetters,
    /** Those of one webhook, after the job has stored what is in the queue. */
    async deadLettersOf(webhookLogId: string): Promise<DeadLetterInSql[]> {
      await storeDeadLetters();
      const { rows } = await world.sql.query<DeadLetterInSql>(
        'select * from dead_letters where webhook_log_id = $1 order by id',
        [webhookLogId],
      );
      return rows;
    },
    waitForDeadLetter(id: string, timeoutMs = 15_000): Promise<DeadLetterInSql> {
      return waitFor(
        'the dead letter',
        async () => {
          await storeDeadLetters();
          const sql = 'select * from dead_letters where id = $1';
          return (await world.sql.query<DeadLetterInSql>(sql, [id])).rows[0];
        },
        { timeoutMs },
      );
    },
    /** To `hqrelay.dead-letter`, as it is: what the broker moves there at its delivery limit. */
    sendToDeadLetters: (content: Buffer) => publish(content, '', deadLetterQueue),
    async depthOf(queue: string): Promise<number> {
      return (await publishing.queueDepths([queue])).get(queue) ?? 0;
    },
    async close(): Promise<void> {
      await Promise.all(consumers.map((each) => each.drain(5_000)));
      await consuming.stop();
      await recorder.close();
      await deps.sender.close();
      await Promise.all([publishing.stop(), cache.close(), postgres.close()]);
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
      await world.close();
    },
  };
}

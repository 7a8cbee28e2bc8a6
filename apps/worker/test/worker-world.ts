import { announceProjectChange } from '@hqrelay/cache/project-config';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { decodeMessage, encodeMessage, type DeliveryFields, type Envelope } from '@hqrelay/queue/messages';
import { decodeParked } from '@hqrelay/queue/parked';
import { Publisher, type Publication } from '@hqrelay/queue/publishing/publisher';
import { deadLetterQueue, workExchange, type WorkQueue } from '@hqrelay/queue/topology';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { freshId } from '@hqrelay/testing/fresh-id';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { Registry } from 'prom-client';
import { afterAll, inject } from 'vitest';
import { readConfig } from '../src/config.ts';
import { dispatch } from '../src/delivery/dispatch.ts';
import { createWorker, type Worker } from '../src/worker.ts';

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

export type HeldInSql = {
  delivery_id: string;
  webhook_log_id: string;
  reason: string;
  due_at: Date;
  held_at: Date;
  queue: string;
};

export type LogLine = Record<string, unknown> & { level: string; msg: string };

export type WorkerWorld = Awaited<ReturnType<typeof openWorkerWorld>>;

/**
 * A world with a worker in the test's own process, until the file's tests are over: wired as in production, but the test
 * moves its clock and runs its jobs.
 */
export async function openWorkerWorld(options: Parameters<typeof createWorld>[1] = {}) {
  const world = await createWorld(inject('run'), options);
  const clock = { aheadMs: 0, stoppedAt: undefined as number | undefined };
  const now = () => (clock.stoppedAt ?? Date.now()) + clock.aheadMs;
  const logs: LogLine[] = [];
  const config = readConfig(world.env);
  const registry = createRegistry();
  const logger = createLogger(
    { name: 'worker', level: 'info' },
    { write: (line) => void logs.push(JSON.parse(line) as LogLine) },
  );
  const worker = createWorker(config, { logger, registry, refuse: failTest, now, random: () => 0 });
  const entrance = worker.gate.entrance('hqrelay.webhooks');
  const published = recordPublications(worker.publisher);
  const broker = new BrokerConnection({ urls: config.rabbitmqUrls, name: 'test', onChange: () => {} });
  const publish = publishOn(broker);
  broker.start();
  await worker.parts.stores.start();
  await worker.parts.intake.start();

  const { postgres, cache, directory, publisher, consumers } = worker;
  const jobs = whileStoresAreUp(worker);
  const waitUntilUp = () =>
    waitFor(
      'the worker to be up',
      () =>
        postgres.health.isUp &&
        publisher.health.isUp &&
        broker.health.isUp &&
        consumers.every((each) => each.isConsuming),
    );
  await waitUntilUp();

  /** Removes the cached configuration from Redis and from this worker, as an announced change does. */
  const forget = async (projectId: string) => {
    await announceProjectChange(cache.redis, projectId);
    directory.forget(projectId);
  };
  const endpoints: RecordingEndpoint[] = [];
  const storeDeadLetters = () => jobs.storeDeadLetters.run();
  afterAll(async () => {
    await closeWorker(worker);
    await broker.stop();
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await world.close();
  });

  return {
    ...world,
    ...queriesOf(world, worker, registry),
    worker,
    deps: worker.deps,
    gate: worker.gate,
    entrance,
    fleet: worker.fleet,
    postgres,
    cache,
    publisher,
    consumers,
    jobs,
    registry,
    /** The connection that the worker publishes on. */
    publishing: worker.publishing,
    published,
    logger,
    logs,
    clock,
    now,
    waitUntilUp,
    forget,
    storeDeadLetters,
    releaseHeld: () => jobs.releaseHeld.run(),
    /** Ends turns that no worker ended, also those of attempts whose rows were spilled. */
    async endTurns(): Promise<void> {
      await jobs.drainSpilledAudit.run(new AbortController().signal);
      await jobs.endTurns.run();
    },
    /** The log lines of the worker at level error. */
    errors: () => logs.filter(({ level }) => level === 'error'),
    /** A project with an endpoint for each of `hows`; each endpoint is a recording server. */
    async seed(...hows: Omit<Parameters<typeof seedEndpoint>[2], 'url'>[]) {
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
    /** Changes an endpoint's row and announces the change. */
    async changeEndpoint(projectId: string, endpointId: string, changes: string): Promise<void> {
      await world.sql.query(`update endpoints set ${changes} where id = $1`, [endpointId]);
      await forget(projectId);
    },
    message: webhookMessage,
    send: (content: Buffer, queue: WorkQueue = 'hqrelay.webhooks') => publish(content, workExchange, queue),
    /** Handles a message as the broker redelivers it after a worker has crashed. */
    redeliver: (content: Buffer) =>
      dispatch(worker.deps, { content, redelivered: true, entrance, isLive: true }),
    /** Publishes to `hqrelay.dead-letter`, where the broker moves a message at its delivery limit. */
    sendToDeadLetters: (content: Buffer) => publish(content, '', deadLetterQueue),
    /** The attempts of one webhook that the worker has published, and their exchanges. */
    publishedOf(webhookLogId: string): (DeliveryFields & { exchange: string; routingKey: string })[] {
      return published.flatMap(({ exchange, routingKey, body }) => {
        const decoded = decodeMessage(decodeParked(body)?.content ?? body);
        if (decoded.kind !== 'message' || decoded.message.envelope.id !== webhookLogId) return [];
        const { delivery } = decoded.message.envelope;
        return delivery ? [{ ...delivery, exchange, routingKey }] : [];
      });
    },
    /** The dead letters of one webhook, after the job has emptied the queue. */
    async deadLettersOf(webhookLogId: string): Promise<DeadLetterInSql[]> {
      await storeDeadLetters();
      const { rows } = await world.sql.query<DeadLetterInSql>(
        'select * from dead_letters where webhook_log_id = $1 order by id',
        [webhookLogId],
      );
      return rows;
    },
    waitForDeadLetter(id: string, timeoutMs = 60_000): Promise<DeadLetterInSql> {
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
    async depthOf(queue: string): Promise<number> {
      return (await worker.publishing.queueDepths([queue])).get(queue) ?? 0;
    },
  };
}

/** The message of a webhook as a receiver publishes it, with `envelope` in place of the defaults. */
function webhookMessage(
  projectId: string,
  envelope: Partial<Envelope> = {},
  body = Buffer.from('{}'),
): Buffer {
  const defaults = { v: 1 as const, eventType: null, correlationId: 'test', endpointIds: [], headers: [] };
  return encodeMessage({ envelope: { ...defaults, id: freshId(), projectId, ...envelope }, body });
}

/**
 * The jobs of a worker as tests run them: a run waits until no store is down. A busy machine may delay an answer of a store for so
 * long that its client counts it as down for a moment, and then a job handles nothing and returns 0.
 */
function whileStoresAreUp({ jobs, postgres, publisher, publishing }: Worker): Worker['jobs'] {
  const areUp = () =>
    postgres.health.isUp && publishing.health.isUp && publisher.mayPublishTo('hqrelay.retries');
  const waiting = Object.entries(jobs).map(([name, job]) => {
    const run = async (stopping: AbortSignal) => {
      await waitFor('the stores of the job', areUp);
      return job.run(stopping);
    };
    return [name, { ...job, run }];
  });
  return Object.fromEntries(waiting) as Worker['jobs'];
}

function recordPublications(publisher: Publisher): Publication[] {
  const published: Publication[] = [];
  const publish = publisher.publish.bind(publisher);
  publisher.publish = (publication) => {
    published.push(publication);
    return publish(publication);
  };
  return published;
}

/** Publishes as a receiver does, on a connection that is not the worker's. */
function publishOn(connection: BrokerConnection) {
  const publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 30_000, inFlightMax: 1_000 });
  return async (body: Buffer, exchange: string, routingKey: string) => {
    const result = await publisher.publish({ exchange, routingKey, body });
    if (result.kind !== 'confirmed') throw new Error(`not published: ${result.reason}`);
  };
}

function queriesOf({ sql }: World, { jobs }: Worker, registry: Registry) {
  const running = new AbortController().signal;
  const hasSpilled = async () => {
    const { values = [] } = (await registry.getSingleMetric('hqrelay_audit_spilled_total')?.get()) ?? {};
    return values.some(({ value }) => value > 0);
  };
  const attemptsOf = async (webhookLogId: string) => {
    // On a busy machine Postgres may answer after the worker has spilled a row.
    if (await hasSpilled()) await jobs.drainSpilledAudit.run(running);
    const { rows } = await sql.query<AttemptInSql>(
      'select * from delivery_attempts where webhook_log_id = $1 order by attempt_num, attempted_at',
      [webhookLogId],
    );
    return rows;
  };
  const held = async () => {
    const { rows } = await sql.query<HeldInSql>(
      'select delivery_id, webhook_log_id, reason, due_at, held_at, queue from held_deliveries order by due_at',
    );
    return rows;
  };
  return {
    /** Whether Postgres was so late that the worker spilled the row of an attempt. */
    hasSpilled,
    attemptsOf,
    held,
    waitForAttempts: (webhookLogId: string, count: number, timeoutMs = 60_000) =>
      waitFor(
        `${count} attempts`,
        async () => {
          const attempts = await attemptsOf(webhookLogId);
          return attempts.length >= count && attempts;
        },
        { timeoutMs },
      ),
    waitForHeld: (webhookLogId: string) =>
      waitFor('the delivery to be held', async () =>
        (await held()).find((row) => row.webhook_log_id === webhookLogId),
      ),
  };
}

/** Stops the parts that were started, in the reverse order. */
async function closeWorker({ parts: { intake, stores } }: Worker): Promise<void> {
  await intake.stop();
  await stores.stop();
}

function failTest(reason: string): never {
  throw new Error(reason);
}

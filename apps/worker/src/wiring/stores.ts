import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import { Cache } from '@hqrelay/cache/client';
import { Postgres } from '@hqrelay/db/postgres';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import type { Logger } from '@hqrelay/runtime/logger';
import type { Registry } from '@hqrelay/runtime/metrics';
import { Counter } from 'prom-client';
import type { WorkerConfig } from '../config.ts';

export type Stores = ReturnType<typeof createStores>;

type Observers = { logger: Logger; registry: Registry };

/** The clients of Postgres, Redis and RabbitMQ. None of them connects before it is started. */
export function createStores(
  config: Pick<WorkerConfig, 'workerDatabaseUrl' | 'redisUrl' | 'rabbitmqUrls'>,
  { logger, registry }: Observers,
) {
  const onChange = (dependency: string) => (state: string, reason?: string) =>
    logger[state === 'up' ? 'info' : 'warn']({ dependency, state, reason }, 'dependency.changed');
  const postgres = new Postgres({
    url: config.workerDatabaseUrl,
    applicationName: 'hqrelay-worker',
    max: 10,
    onChange: onChange('postgres'),
  });
  const cache = new Cache({
    url: config.redisUrl,
    name: 'hqrelay-worker',
    onChange: onChange('redis'),
    onRefused: (error) => logger.error({ err: error }, 'redis.command_refused'),
  });
  const connect = (use: string, dependency: string) =>
    new BrokerConnection({
      urls: config.rabbitmqUrls,
      name: `hqrelay-worker ${use}`,
      onChange: onChange(dependency),
    });
  // An alarm of the broker blocks every connection that publishes; acknowledgements need one that does not.
  const publishing = connect('publishing', 'rabbitmq');
  const consuming = connect('consuming', 'rabbitmq consuming');
  const publisher = new Publisher({
    name: 'deliveries',
    connection: publishing,
    confirmTimeoutMs: 2_000,
    inFlightMax: 5_000,
  });
  const recorder = createRecorder({ postgres, publisher }, { logger, registry });
  return { postgres, cache, publishing, consuming, publisher, recorder };
}

function createRecorder(
  { postgres, publisher }: { postgres: Postgres; publisher: Publisher },
  { logger, registry }: Observers,
): AuditRecorder {
  const spilled = new Counter({
    name: 'hqrelay_audit_spilled_total',
    help: 'Audit rows that went to the broker because Postgres did not take them',
    registers: [registry],
  });
  return new AuditRecorder({
    postgres,
    publisher,
    onSpilled: (rows) => spilled.inc(rows),
    onParked: (row, reason) => logger.error({ kind: row.kind, reason }, 'audit.row_parked'),
    onBackgroundRowsLost: (rows) => logger.error({ rows }, 'audit.background_rows_lost'),
  });
}

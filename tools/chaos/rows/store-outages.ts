import type { ServiceName } from '@hqrelay/services/private-services';
import { hitBoth, type Row } from '../row.ts';

type Outage = Pick<
  Row,
  'name' | 'fault' | 'duplicatesBecause' | 'mayRefuse' | 'acceptsWithinMs' | 'p99MsMax'
> & {
  stores: readonly ServiceName[];
  /** By its stop signal, or by SIGKILL. */
  end: 'stop' | 'kill';
  /** From its end to its start. */
  downMs?: number;
};

/** The p99 where RabbitMQ and Postgres boot at the same time, on the cores that the apps run on. */
const bootingTogetherMs = 500;

function outageRow({ stores, end, downMs = 0, ...row }: Outage): Row {
  return {
    ...row,
    hit: hitBoth,
    run: async ({ server }, stage) => {
      const servers = stores.map((name) => server(name));
      await stage.fault(`${stores.join(', ')}: ${end}`, async () => {
        await Promise.all(servers.map((each) => each[end]()));
        await stage.wait(downMs);
        await Promise.all(servers.map((each) => each.start()));
      });
    },
  };
}

/** Webhooks go through the outbox while the broker is unavailable, and every process reconnects by itself. */
export const rabbitmqRestart = outageRow({
  name: 'rabbitmq-restart',
  fault: 'RabbitMQ is stopped by SIGTERM and started again',
  duplicatesBecause: 'acknowledgements were on their way when the broker stopped',
  stores: ['rabbitmq'],
  end: 'stop',
});

/** Everything that the broker confirmed is on its disk. */
export const rabbitmqKill = outageRow({
  name: 'rabbitmq-kill',
  fault: 'RabbitMQ is killed (`kill -9`) and started again',
  duplicatesBecause: 'acknowledgements and confirms were on their way when the broker died',
  stores: ['rabbitmq'],
  end: 'kill',
  downMs: 500,
});

/** Rows go to the audit queue and are written when Postgres is back. */
export const postgresStopped = outageRow({
  name: 'postgres-stopped',
  fault: 'Postgres is stopped for 6 s',
  stores: ['postgres'],
  end: 'stop',
  downMs: 6_000,
});

/** The rate limit is open, and Postgres recognises duplicates. */
export const redisStopped = outageRow({
  name: 'redis-stopped',
  fault: 'Redis is stopped for 5 s',
  stores: ['redis'],
  end: 'stop',
  downMs: 5_000,
});

/** No store can make a webhook durable: the answer is 503, and the provider's retry takes over the same id. */
export const rabbitmqAndPostgresStopped = outageRow({
  name: 'rabbitmq-and-postgres-stopped',
  fault: 'RabbitMQ and Postgres are stopped, and started again together',
  duplicatesBecause: 'attempts just before the fault could be recorded nowhere, and were made again',
  mayRefuse: true,
  acceptsWithinMs: 3_000,
  p99MsMax: bootingTogetherMs,
  stores: ['rabbitmq', 'postgres'],
  end: 'stop',
});

/** All stores crash: the answer is 503 until they are back, and no webhook that was answered 202 is lost. */
export const everythingStopped = outageRow({
  name: 'everything-stopped',
  fault: 'RabbitMQ, Postgres and Redis are killed (`kill -9`) and started again together',
  duplicatesBecause: 'attempts just before the fault could be recorded nowhere, and were made again',
  mayRefuse: true,
  acceptsWithinMs: 3_000,
  p99MsMax: bootingTogetherMs,
  stores: ['rabbitmq', 'postgres', 'redis'],
  end: 'kill',
  downMs: 500,
});

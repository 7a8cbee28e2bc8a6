import { drainSpill } from '@hqrelay/audit/drain-spill';
import { Postgres } from '@hqrelay/db/postgres';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { World } from '@hqrelay/testing/world';

/** Writes the rows that a receiver spilled because Postgres answered late, as a worker does. */
export async function writeSpilledRows({ env, rabbitmqUrl }: World): Promise<void> {
  const onChange = () => {};
  const url = env['WORKER_DATABASE_URL'] as string;
  const postgres = new Postgres({ url, applicationName: 'test', max: 1, onChange });
  const connection = new BrokerConnection({ urls: [rabbitmqUrl], name: 'test', onChange });
  const publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 30_000, inFlightMax: 10 });
  connection.start();
  try {
    await waitFor('the broker', () => connection.health.isUp);
    await drainSpill({ postgres, connection, publisher });
  } finally {
    await Promise.all([connection.stop(), postgres.close()]);
  }
}

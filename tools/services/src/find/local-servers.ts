import { createConnection } from 'node:net';
import { userInfo } from 'node:os';
import pg from 'pg';
import { connect } from 'amqplib';
import { listens } from '../listens.ts';

export type LocalServer =
  { kind: 'usable'; url: string } | { kind: 'passed_over'; reason: string } | { kind: 'absent' };

/** Local servers on their default ports, where a usual development login has the rights that the relay needs. */
export const findLocalServer = {
  async postgres(port = 5432): Promise<LocalServer> {
    if (!(await listens(port))) return { kind: 'absent' };
    const self = userInfo().username;
    for (const login of ['postgres:postgres', 'postgres', encodeURIComponent(self)]) {
      const url = `postgres://${login}@127.0.0.1:${port}/postgres`;
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
      // An error also rejects the call in progress.
      client.on('error', () => {});
      try {
        await client.connect();
        const { rows } = await client.query<{ able: boolean }>(
          'select rolsuper or (rolcreatedb and rolcreaterole) as able from pg_roles where rolname = current_user',
        );
        if (rows[0]?.able) return { kind: 'usable', url };
      } catch {
        // Try the next login.
      } finally {
        // A connection that was refused is closed already.
        await client.end().catch(() => {});
      }
    }
    return {
      kind: 'passed_over',
      reason: `the Postgres on port ${port} has no login "postgres" (with that password or none) or "${self}" that may create databases and roles; set DATABASE_URL to use it`,
    };
  },

  async redis(port = 6379): Promise<LocalServer> {
    if (!(await listens(port))) return { kind: 'absent' };
    const answer = await ask(port, 'PING\r\n');
    return answer.startsWith('+PONG')
      ? { kind: 'usable', url: `redis://127.0.0.1:${port}` }
      : {
          kind: 'passed_over',
          reason: `the server on port ${port} is not a Redis without a password; set REDIS_URL to use it`,
        };
  },

  async rabbitmq(port = 5672): Promise<LocalServer> {
    if (!(await listens(port))) return { kind: 'absent' };
    const url = `amqp://guest:guest@127.0.0.1:${port}`;
    try {
      const connection = await connect(url, { timeout: 3_000 });
      await connection.close();
      return { kind: 'usable', url };
    } catch {
      return {
        kind: 'passed_over',
        reason: `the RabbitMQ on port ${port} does not let "guest" in; set RABBITMQ_URL to use it`,
      };
    }
  },
};

function ask(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(text)).once('data', (data) => end(data.toString()));
    socket
      .once('error', () => end(''))
      .once('timeout', () => end(''))
      .once('end', () => end(''));
  });
}

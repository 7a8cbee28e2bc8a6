import { createConnection } from 'node:net';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connectRedis } from '@hqrelay/cache/connect-redis';
import { createLogger } from '@hqrelay/runtime/logger';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, inject } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createReceiver } from '../src/receiver.ts';
import { writeSpilledRows } from './spilled-rows.ts';

/** A world with one receiver in this process until the file's tests are over, wired as in production, and access to its stores. */
export async function openReceiverWorld(env: Record<string, string> = {}) {
  const world = await createWorld(inject('run'));
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger(
    { name: 'receiver', level: 'debug' },
    { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const receiver = createReceiver(readConfig({ ...world.env, ...env }), {
    logger,
    isDraining: () => false,
    refuse: failTest,
  });
  receiver.connect();
  const url = `http://127.0.0.1:${await receiver.server.listen(0)}`;
  const redis = connectRedis(world.redisUrl, 'test');
  await redis.connect();
  afterAll(async () => {
    await receiver.server.close(5_000);
    await receiver.disconnect();
    redis.disconnect();
    await world.close();
  });
  const readiness = async () => (await (await fetch(`${url}/health/ready`)).json()) as { status: string };
  await waitFor('the receiver to have all its stores', async () => (await readiness()).status === 'ready');
  let spillsSeen = 0;
  /** All rows: on a busy machine Postgres may answer after the receiver has spilled some. */
  const query = async <Row extends object>(text: string, values: unknown[]): Promise<Row[]> => {
    const spills = logs.filter(({ msg }) => msg === 'audit.spilled').length;
    if (spills > spillsSeen) await writeSpilledRows(world);
    spillsSeen = spills;
    return (await world.sql.query<Row>(text, values)).rows;
  };
  return {
    ...world,
    redis,
    /** The log lines of the receiver. */
    logs,
    url,
    webhooksUrl: (projectId: string) => `${url}/v1/webhooks/${projectId}`,
    /** The rows of a project's requests, in the order they were made. */
    logsOf: (projectId: string, status?: string): Promise<LogRow[]> =>
      query<LogRow>(
        `select * from webhook_logs where project_id = $1 and ($2::text is null or status::text = $2) order by id`,
        [projectId, status ?? null],
      ),
    /** Waits for rows that are written after the answer. */
    waitForLogs(projectId: string, status: string, count = 1): Promise<LogRow[]> {
      return waitFor(`${count} rows ${status}`, async () => {
        const rows = await this.logsOf(projectId, status);
        return rows.length >= count && rows;
      });
    },
    waitForRow<Row extends object>(text: string, values: unknown[]): Promise<Row> {
      return waitFor('a row', async () => (await query<Row>(text, values))[0]);
    },
    async payloadOf(id: string): Promise<PayloadRow | undefined> {
      return (await query<PayloadRow>('select * from webhook_payloads where id = $1', [id]))[0];
    },
    /** Removes the keys of a project from Redis, as a flush does, after all marks of its webhooks are written. */
    async forgetInRedis(projectId: string): Promise<void> {
      await waitFor('every webhook to be marked', async () => {
        const keys = await redis.keys(`hqrelay:idempotency:{${projectId}}:*`);
        const values = await Promise.all(keys.map((key) => redis.get(key)));
        return values.every((value) => !value?.startsWith('P|'));
      });
      const keys = await redis.keys(`hqrelay:*{${projectId}}*`);
      if (keys.length > 0) await redis.del(...keys);
    },
    /** Resolves when a client reads the key from Redis. Listens before it returns. */
    async listenFor(key: string): Promise<{ asked: Promise<unknown> }> {
      // A raw socket, because the MONITOR of the Redis client fails on commands that arrive while it starts.
      const { hostname, port, password } = new URL(world.redisUrl);
      const socket = createConnection(Number(port), hostname);
      const login = password === '' ? '' : `AUTH ${decodeURIComponent(password)}\r\n`;
      socket.setEncoding('utf8').write(`${login}MONITOR\r\n`);
      let seen = '';
      socket.on('data', (chunk: string) => (seen += chunk));
      await waitFor('MONITOR to begin', () => seen.startsWith(login === '' ? '+OK' : '+OK\r\n+OK'));
      const asked = waitFor('a read of the key', () => seen.includes(`"GET" "${key}"`));
      return { asked: asked.finally(() => socket.destroy()) };
    },
    /**
     * Runs a test of the rate limit, and again when Redis was late during a run that failed: the limit is open then. A busy
     * machine can delay Redis by more than the 100 ms that a receiver waits.
     */
    async whileRedisAnswers(run: () => Promise<void>): Promise<void> {
      for (let left = 4; ; left -= 1) {
        const begin = logs.length;
        try {
          return await run();
        } catch (error) {
          const wasLate = logs.slice(begin).some(({ dependency }) => dependency === 'redis');
          if (!wasLate || left === 0) throw error;
          await waitFor('Redis', async () => (await readiness()).status === 'ready');
        }
      }
    },
    async redisNow(): Promise<number> {
      const [seconds, microseconds] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
  };
}

export type LogRow = {
  id: string;
  webhook_id: string;
  event_type: string | null;
  status: string;
  reason: string | null;
  endpoint_ids: string[];
  duplicate_of: string | null;
  payload_sha256: string | null;
  payload_bytes: number;
  remote_addr: string | null;
  correlation_id: string;
  received_at: Date;
};

export type PayloadRow = {
  payload: Buffer;
  headers: [string, string][];
  query: string;
  credentials: object[] | null;
};

export type RawAnswer = { statusCode: number; headers: IncomingHttpHeaders; text: string };

/**
 * Sends a request unchanged on its own connection, with header bytes, duplicate headers and bodies that `fetch`
 * would not send. Rejects when the connection breaks before the answer is complete.
 */
export function sendRaw(
  url: string,
  options: {
    method?: string;
    /** Names and values in turn; values in Latin-1, one character for each byte. */
    headers?: readonly string[];
    body?: Buffer | Iterable<Buffer>;
  } = {},
): Promise<RawAnswer> {
  const { method = 'POST', headers = [], body = Buffer.alloc(0) } = options;
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const named = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
    const framing =
      named.has('content-length') || method !== 'POST'
        ? []
        : Buffer.isBuffer(body)
          ? ['Content-Length', String(body.length)]
          : ['Transfer-Encoding', 'chunked'];
    const request = httpRequest(
      url,
      { method, agent: false, headers: ['Host', host, ...framing, ...headers] as never },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          request.destroy();
          resolve({
            statusCode: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    request.on('error', reject);
    if (Buffer.isBuffer(body)) {
      request.end(body);
      return;
    }
    const chunks = body[Symbol.iterator]();
    const writeMore = () => {
      for (;;) {
        const next = chunks.next();
        if (next.done) return void request.end();
        if (!request.write(next.value)) return void request.once('drain', writeMore);
      }
    };
    writeMore();
  });
}

/** `count` chunks of 64 KiB. */
export function* chunksOf64KiB(count: number): Generator<Buffer> {
  const chunk = Buffer.alloc(65_536, 0x61);
  for (let i = 0; i < count; i += 1) yield chunk;
}

function failTest(reason: string): never {
  throw new Error(reason);
}

import type { z } from 'zod';
import {
  connectionUrl,
  connectionUrls,
  flag,
  integer,
  nameServers,
  networks,
  oneOf,
  publicBaseUrl,
  redisUrl,
  secretKeys,
  trustedProxies,
} from './env-formats.ts';

export interface Variable<
  Key extends string = string,
  Schema extends z.ZodType = z.ZodType,
  Unset = unknown,
> {
  /** The name in a loaded config. */
  key: Key;
  schema: Schema;
  /**
   * The meaning of an unset variable: `required` is a problem, `text` is parsed, `value` is used without parsing, `variable`
   * names the variable that is read in its place.
   */
  whenUnset: { required: true } | { text: string } | { value: Unset; meaning: string } | { variable: string };
  /** `secret` is never shown; a `url` is shown without its password. */
  shown: 'value' | 'url' | 'secret';
  unit?: 'bytes' | 'milliseconds' | 'seconds' | 'days';
  example: string;
  description: string;
  /** Why no program reads the variable yet, although its name is part of the contract. */
  reserved?: string;
}

function variable<const Key extends string, Schema extends z.ZodType, const Unset = never>(
  definition: Variable<Key, Schema, Unset>,
): Variable<Key, Schema, Unset> {
  return definition;
}

const port = integer(0, 65_535);
const postgresUrl = connectionUrl('postgres:', 'postgresql:');

/** Every environment variable that the programs read, with its documentation. */
export const variables = {
  DATABASE_URL: variable({
    key: 'databaseUrl',
    schema: postgresUrl,
    whenUnset: { required: true },
    shown: 'url',
    example: 'postgres://hqrelay:password@localhost:5432/hqrelay',
    description:
      'Postgres, as the user of every program that has no URL of its own below. A transaction-mode pooler in front of ' +
      'it works too. TLS with a CA of your own: add `?sslmode=verify-full&sslrootcert=/path/ca.pem`.',
  }),
  MIGRATION_DATABASE_URL: variable({
    key: 'migrationDatabaseUrl',
    schema: postgresUrl,
    whenUnset: { variable: 'DATABASE_URL' },
    shown: 'url',
    example: 'postgres://hqrelay_owner:password@localhost:5432/hqrelay',
    description:
      'Postgres, as the role that owns the schema. Migrating creates the users of the other URLs where they do not ' +
      'exist, and gives each the privileges that its program needs.',
  }),
  RECEIVER_DATABASE_URL: variable({
    key: 'receiverDatabaseUrl',
    schema: postgresUrl,
    whenUnset: { variable: 'DATABASE_URL' },
    shown: 'url',
    example: 'postgres://hqrelay_in:password@localhost:5432/hqrelay',
    description:
      'Postgres, as the user of the receiver alone: it cannot change projects, endpoints and secrets, nor read payloads. ' +
      'Give it to `migrate` too.',
  }),
  WORKER_DATABASE_URL: variable({
    key: 'workerDatabaseUrl',
    schema: postgresUrl,
    whenUnset: { variable: 'DATABASE_URL' },
    shown: 'url',
    example: 'postgres://hqrelay_out:password@localhost:5432/hqrelay',
    description:
      'Postgres, as the user of the worker alone: of projects and endpoints it can disable an endpoint after a 410 and ' +
      'change nothing else. Give it to `migrate` too.',
  }),
  CONSOLE_DATABASE_URL: variable({
    key: 'consoleDatabaseUrl',
    schema: postgresUrl,
    whenUnset: { variable: 'DATABASE_URL' },
    shown: 'url',
    example: 'postgres://hqrelay_admin:password@localhost:5432/hqrelay',
    description:
      'Postgres, as the user of the console and the command line tool: it changes projects, endpoints and secrets, and inserts no ' +
      'webhook and no attempt. Give it to `migrate` too.',
  }),
  DATABASE_READ_URL: variable({
    key: 'databaseReadUrl',
    schema: postgresUrl,
    whenUnset: { value: undefined, meaning: 'the same as CONSOLE_DATABASE_URL' },
    shown: 'url',
    example: 'postgres://hqrelay_admin:password@replica:5432/hqrelay',
    description:
      'A replica of Postgres, for the lists and searches of the HTTP API. They are then as far behind as the replica is.',
  }),
  REDIS_URL: variable({
    key: 'redisUrl',
    schema: redisUrl,
    whenUnset: { required: true },
    shown: 'url',
    example: 'redis://localhost:6379/0',
    description:
      'Redis: idempotency, rate limits, cached project config. `rediss://` is TLS. The primary that Sentinel names: ' +
      '`redis+sentinel://user:password@host:26379,host:26379/master/0`. Redis Cluster is not supported.',
  }),
  RABBITMQ_URL: variable({
    key: 'rabbitmqUrls',
    schema: connectionUrls('amqp:', 'amqps:'),
    whenUnset: { required: true },
    shown: 'url',
    example: 'amqp://hqrelay:password@localhost:5672/hqrelay',
    description:
      'RabbitMQ; a comma-separated list where there are several nodes. The path is the virtual host. ' +
      '`amqps://` is TLS.',
  }),
  HQRELAY_SECRETS_KEY: variable({
    key: 'secretsKey',
    schema: secretKeys,
    whenUnset: { required: true },
    shown: 'secret',
    example: 'the output of: openssl rand -base64 32',
    description:
      'The key that encrypts the secrets in Postgres: 32 bytes in base64. To rotate it, give a ' +
      'comma-separated list: the first encrypts, all decrypt.',
  }),
  RECEIVER_PORT: variable({
    key: 'receiverPort',
    schema: port,
    whenUnset: { text: '3000' },
    shown: 'value',
    example: '3000',
    description: 'Where the receiver listens for webhooks. 0 takes any free port.',
  }),
  RECEIVER_ADMIN_PORT: variable({
    key: 'receiverAdminPort',
    schema: port,
    whenUnset: { value: undefined, meaning: 'served on RECEIVER_PORT' },
    shown: 'value',
    example: '9000',
    description: 'When set, the `/metrics` and `/health/ready` of the receiver answer only on this port.',
  }),
  WORKER_PORT: variable({
    key: 'workerPort',
    schema: port,
    whenUnset: { text: '3001' },
    shown: 'value',
    example: '3001',
    description: 'Where the worker answers `/health`, `/health/ready` and `/metrics`.',
  }),
  CONSOLE_PORT: variable({
    key: 'consolePort',
    schema: port,
    whenUnset: { text: '3002' },
    shown: 'value',
    example: '3002',
    description:
      'Where the console serves the HTTP API, `/health`, `/health/ready` and `/metrics`. 0 takes any free port.',
  }),
  PUBLIC_URL: variable({
    key: 'publicUrl',
    schema: publicBaseUrl,
    whenUnset: { value: undefined, meaning: '`http://127.0.0.1:` and RECEIVER_PORT' },
    shown: 'value',
    example: 'https://hooks.example.com',
    description:
      'The address under which providers reach the receiver: the base of the webhook URLs that the command ' +
      'line tool prints, and of the URL that some providers sign.',
  }),
  RECEIVER_URL: variable({
    key: 'receiverUrl',
    schema: publicBaseUrl,
    whenUnset: { value: undefined, meaning: '`http://127.0.0.1:` and RECEIVER_PORT' },
    shown: 'value',
    example: 'http://receiver:3000',
    description:
      'Where `hqrelay send` posts: the receiver as the machine of the command line tool reaches it.',
  }),
  TRUST_PROXY: variable({
    key: 'trustProxy',
    schema: trustedProxies,
    whenUnset: { text: 'false' },
    shown: 'value',
    example: '1',
    description:
      'The proxies whose `X-Forwarded-For` is believed when a remote address is recorded: `false` (none), the ' +
      'number of proxies in front, or a comma-separated list of their addresses and networks.',
  }),
  LOG_LEVEL: variable({
    key: 'logLevel',
    schema: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    whenUnset: { text: 'info' },
    shown: 'value',
    example: 'info',
    description:
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs are JSON lines on stdout.',
  }),
  BODY_BYTES_MAX: variable({
    key: 'bodyBytesMax',
    // A broker message must stay below RabbitMQ 4's limit of 16 MiB, headers and envelope included.
    schema: integer(1, 8_388_608),
    whenUnset: { text: '1048576' },
    shown: 'value',
    unit: 'bytes',
    example: '1048576',
    description:
      'The largest body the receiver takes; a larger one is answered 413. At most 8388608. The worker bounds its memory ' +
      'by it: give both the same.',
  }),
  DELIVERY_TIMEOUT_MS: variable({
    key: 'deliveryTimeoutMs',
    schema: integer(100, 30_000),
    whenUnset: { text: '10000' },
    shown: 'value',
    unit: 'milliseconds',
    example: '10000',
    description:
      'The timeout of an endpoint that is added without `--timeout`: how long one attempt may take, from waiting ' +
      'for a connection to the last byte of the answer. 100 to 30000. Endpoints that exist keep theirs.',
  }),
  CONFIG_CACHE_TTL_SECONDS: variable({
    key: 'configCacheTtlSeconds',
    schema: integer(1, 86_400),
    whenUnset: { text: '300' },
    shown: 'value',
    unit: 'seconds',
    example: '300',
    description:
      'How long the configuration of a project stays in Redis. A change is announced to every process at once; ' +
      'this bounds how long a process that misses the announcement uses the old one.',
  }),
  ALLOW_PRIVATE_ENDPOINTS: variable({
    key: 'allowPrivateEndpoints',
    schema: flag,
    whenUnset: { text: 'false' },
    shown: 'value',
    example: 'false',
    description:
      'For development: endpoints may be on loopback and private addresses, and speak plain http. Cloud ' +
      'metadata addresses stay forbidden.',
  }),
  ALLOW_ENDPOINT_CIDRS: variable({
    key: 'allowEndpointCidrs',
    schema: networks,
    whenUnset: { value: [], meaning: 'no private network' },
    shown: 'value',
    example: '10.20.0.0/16,fd00:12::/32',
    description: 'The private networks that endpoints may live in. Cloud metadata addresses stay forbidden.',
  }),
  DNS_SERVERS: variable({
    key: 'dnsServers',
    schema: nameServers,
    whenUnset: { value: undefined, meaning: 'those of /etc/resolv.conf' },
    shown: 'value',
    example: '10.0.0.2,10.0.0.3:5353',
    description:
      "The name servers that resolve endpoints' host names: addresses, with a port where it is not 53. " +
      'The stores are still found through the system.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable({
    key: 'otlpEndpoint',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: 'no traces' },
    shown: 'url',
    example: 'http://localhost:4318',
    description:
      'The OpenTelemetry collector that traces are sent to. The other `OTEL_EXPORTER_OTLP_*` variables (headers, timeout, ' +
      'certificate, compression) have the meaning that OpenTelemetry gives them.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable({
    key: 'otlpTracesEndpoint',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: '`OTEL_EXPORTER_OTLP_ENDPOINT` and `/v1/traces`' },
    shown: 'url',
    example: 'http://localhost:4318/v1/traces',
    description: 'The whole URL that traces are sent to.',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: variable({
    key: 'otlpProtocol',
    schema: oneOf(['http/protobuf', 'http/json']),
    whenUnset: { text: 'http/protobuf' },
    shown: 'value',
    example: 'http/protobuf',
    description: 'The encoding of traces: `http/protobuf` or `http/json`.',
  }),
  EGRESS_PROXY: variable({
    key: 'egressProxy',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: 'connections go straight to the endpoint' },
    shown: 'url',
    example: 'http://proxy.internal:3128',
    description:
      'An HTTP proxy that all deliveries go through (CONNECT). The names of endpoints are then resolved by ' +
      'the proxy, which has to refuse private addresses itself.',
  }),
  PAYLOAD_RETENTION_DAYS: variable({
    key: 'payloadRetentionDays',
    schema: integer(1, 36_500),
    whenUnset: { value: undefined, meaning: 'for ever' },
    shown: 'value',
    unit: 'days',
    example: '90',
    description:
      'How long payloads are kept; longer where a delivery still needs one. The facts about webhooks and ' +
      'attempts stay.',
  }),
} as const;

export type VariableName = keyof typeof variables;

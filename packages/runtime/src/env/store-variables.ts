import { connectionUrl, connectionUrls, redisUrl, secretKeys } from './env-formats.ts';
import { variable } from './variable.ts';

const postgresUrl = connectionUrl('postgres:', 'postgresql:');

/** Where the stores are, and the key of the secrets. */
export const storeVariables = {
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
} as const;

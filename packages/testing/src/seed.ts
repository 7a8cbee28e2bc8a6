import { rotateProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { insertEndpoint } from '@hqrelay/db/queries/endpoints';
import { insertProject } from '@hqrelay/db/queries/projects';
import type { EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { parseSecretKeys, seal, type SecretKeys } from '@hqrelay/domain/secrets/secret-box';
import pg from 'pg';
import { freshId } from './fresh-id.ts';

export type SeededProject = { id: string; secret: string; requireTimestamp: boolean };
export type SeededEndpoint = { id: string; signingSecret: string };

/** With a pool, rows are written through it and not over a connection of their own. */
type Where = { databaseUrl: string; secretsKey: string; pool?: pg.Pool };

/** A project, unlimited unless told otherwise. */
export async function seedProject(
  where: Where,
  options: {
    rateLimitPerMinute?: number | null;
    requireTimestamp?: boolean;
    onConflict?: 'reject' | 'duplicate';
    sameBody?: 'accept' | 'duplicate';
    idempotencyTtlSeconds?: number;
    provider?: string;
    secret?: string;
    providerSettings?: Readonly<Record<string, string>>;
  } = {},
): Promise<SeededProject> {
  const id = freshId();
  const secret = options.secret ?? newSigningSecret();
  const rowId = freshId();
  const requireTimestamp = options.requireTimestamp ?? false;
  await withPool(where, (pool) =>
    insertProject(pool, {
      id,
      provider: options.provider ?? 'generic',
      settings: {
        name: `project ${id}`,
        rateLimitPerMinute: options.rateLimitPerMinute ?? null,
        idempotencyTtlSeconds: options.idempotencyTtlSeconds ?? 86_400,
        onConflict: options.onConflict ?? 'reject',
        requireTimestamp,
        sameBody: options.sameBody ?? 'accept',
        enabled: true,
        scheme: null,
        searchKeys: [],
        ...sealedProviderSettings(parseSecretKeys(where.secretsKey), id, options.providerSettings),
      },
      secret: sealed(where, rowId, secret),
    }),
  );
  return { id, secret, requireTimestamp };
}

/** Another secret of a project; the present ones verify for `overlapMs` more. Returns the id of its row. No receiver is told. */
export async function seedSecret(
  where: Where,
  { projectId, secret, overlapMs = 60_000 }: { projectId: string; secret: string; overlapMs?: number },
): Promise<string> {
  const id = freshId();
  await withPool(where, (pool) =>
    rotateProjectSecret(pool, { projectId, secret: sealed(where, id, secret), overlapMs }),
  );
  return id;
}

function sealed({ secretsKey }: Where, id: string, secret: string) {
  return { id, ...seal(parseSecretKeys(secretsKey), secret, `project_secrets:${id}`) };
}

/** An endpoint of a project. A receiver that has the project in memory reads it within seconds. */
export async function seedEndpoint(
  where: Where,
  projectId: string,
  options: {
    url: string;
    eventTypes?: string[];
    retry?: string;
    timeoutMs?: number;
    forwardCredentials?: boolean;
    orderingKey?: string;
    onDeadLetter?: 'continue' | 'hold';
    fixedHeaders?: [string, string][];
    tls?: EndpointTls;
  },
): Promise<SeededEndpoint> {
  const id = freshId();
  const rowId = freshId();
  const signingSecret = newSigningSecret();
  const keys = parseSecretKeys(where.secretsKey);
  await withPool(where, (pool) =>
    insertEndpoint(pool, {
      id,
      projectId,
      settings: {
        url: options.url,
        eventTypes: options.eventTypes ?? [],
        retrySchedule: parseRetrySchedule(options.retry ?? 'hqrelay'),
        timeoutMs: options.timeoutMs ?? 10_000,
        orderingKey: options.orderingKey ?? null,
        onDeadLetter: options.onDeadLetter ?? 'continue',
        forwardCredentials: options.forwardCredentials ?? false,
        caCertificates: options.tls?.ca ?? null,
        ...sealedSettings(keys, id, options),
      },
      secret: { id: rowId, ...seal(keys, signingSecret, `endpoint_secrets:${rowId}`) },
    }),
  );
  return { id, signingSecret };
}

function sealedProviderSettings(keys: SecretKeys, id: string, settings?: Readonly<Record<string, string>>) {
  const value = settings && seal(keys, JSON.stringify(settings), `projects.settings:${id}`);
  return { sealedSettings: value?.sealed ?? null, settingsKeyId: value?.keyId ?? null };
}

function sealedSettings(
  keys: SecretKeys,
  id: string,
  { fixedHeaders, tls }: { fixedHeaders?: [string, string][]; tls?: EndpointTls },
) {
  const headers = fixedHeaders && seal(keys, JSON.stringify(fixedHeaders), `endpoints.headers:${id}`);
  const client = tls?.client && seal(keys, JSON.stringify(tls.client), `endpoints.tls:${id}`);
  return {
    sealedHeaders: headers?.sealed ?? null,
    headersKeyId: headers?.keyId ?? null,
    sealedClientCertificate: client?.sealed ?? null,
    clientCertificateKeyId: client?.keyId ?? null,
  };
}

async function withPool(where: Where, work: (pool: pg.Pool) => Promise<unknown>): Promise<void> {
  if (where.pool) return void (await work(where.pool));
  const pool = new pg.Pool({ connectionString: where.databaseUrl, max: 1 });
  // A connection that is being closed may report an error when a test stops its server.
  pool.on('error', () => {});
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

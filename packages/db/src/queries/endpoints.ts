import type pg from 'pg';
import { disabledBySql } from './disabled-by.ts';
import type { Queryable } from '../queryable.ts';
import type { SealedRow } from './projects.ts';

export type Endpoint = {
  id: string;
  projectId: string;
  url: string;
  /** Empty is all. */
  eventTypes: string[];
  retrySchedule: string[];
  timeoutMs: number;
  enabled: boolean;
  /** The relay after a 410: it is still owed webhooks. A person: it is owed none. Null while it is enabled. */
  disabledBy: 'relay' | 'person' | null;
  disabledReason: string | null;
  paused: boolean;
  /** An archived endpoint is disabled and hidden for good. */
  archivedAt: Date | null;
  /** How fast deliveries that were held while it was paused or disabled are released, per second. */
  releaseRate: number;
  orderingKey: string | null;
  onDeadLetter: 'continue' | 'hold';
  forwardCredentials: boolean;
  /** Whether it has fixed headers, which are sealed. */
  hasHeaders: boolean;
  /** Whether its certificate is checked against authorities of its own. */
  hasCa: boolean;
  /** Whether the relay shows it a client certificate, which is sealed. */
  hasClientCertificate: boolean;
  createdAt: Date;
};

/** What an endpoint's row holds sealed or as PEM. Of a sealed value and its key's id both or neither are null. */
export type SealedSettings = {
  sealedHeaders: string | null;
  headersKeyId: string | null;
  /** PEM. */
  caCertificates: string | null;
  sealedClientCertificate: string | null;
  clientCertificateKeyId: string | null;
};

export type EndpointSettings = Pick<
  Endpoint,
  'url' | 'eventTypes' | 'retrySchedule' | 'timeoutMs' | 'orderingKey' | 'onDeadLetter' | 'forwardCredentials'
> &
  SealedSettings;

export type EndpointChanges = Partial<
  EndpointSettings &
    Pick<Endpoint, 'enabled' | 'disabledBy' | 'disabledReason' | 'paused' | 'releaseRate' | 'archivedAt'>
>;

/** The columns of an `Endpoint`. */
export const endpointColumns = `id, project_id as "projectId", url, event_types as "eventTypes", retry_schedule as "retrySchedule",
  timeout_ms as "timeoutMs", enabled, ${disabledBySql} as "disabledBy", disabled_reason as "disabledReason", paused,
  archived_at as "archivedAt", release_rate as "releaseRate", ordering_key as "orderingKey",
  on_dead_letter as "onDeadLetter", forward_credentials as "forwardCredentials", sealed_headers is not null as "hasHeaders",
  ca_certificates is not null as "hasCa", sealed_client_certificate is not null as "hasClientCertificate",
  created_at as "createdAt"`;

const columnOf: Readonly<Record<keyof EndpointChanges, string>> = {
  url: 'url',
  eventTypes: 'event_types',
  retrySchedule: 'retry_schedule',
  timeoutMs: 'timeout_ms',
  orderingKey: 'ordering_key',
  onDeadLetter: 'on_dead_letter',
  forwardCredentials: 'forward_credentials',
  sealedHeaders: 'sealed_headers',
  headersKeyId: 'headers_key_id',
  caCertificates: 'ca_certificates',
  sealedClientCertificate: 'sealed_client_certificate',
  clientCertificateKeyId: 'client_certificate_key_id',
  enabled: 'enabled',
  disabledBy: 'disabled_by',
  disabledReason: 'disabled_reason',
  paused: 'paused',
  releaseRate: 'release_rate',
  archivedAt: 'archived_at',
};

/** Inserts an endpoint and its signing secret, both or neither, and returns the endpoint. Throws when there is no such project. */
export async function insertEndpoint(
  client: Queryable,
  inserted: { id: string; projectId: string; settings: EndpointSettings; secret: SealedRow },
): Promise<Endpoint> {
  const { id, projectId, settings, secret } = inserted;
  const { rows } = await client.query<Endpoint>(
    `with endpoint as (
       insert into endpoints (id, project_id, url, event_types, retry_schedule, timeout_ms, ordering_key, on_dead_letter, forward_credentials,
         sealed_headers, headers_key_id, ca_certificates, sealed_client_certificate, client_certificate_key_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) returning *
     ), secret as (
       insert into endpoint_secrets (id, endpoint_id, sealed, key_id) select $15, id, $16, $17 from endpoint
     )
     select ${endpointColumns} from endpoint`,
    [
      id,
      projectId,
      settings.url,
      settings.eventTypes,
      settings.retrySchedule,
      settings.timeoutMs,
      settings.orderingKey,
      settings.onDeadLetter,
      settings.forwardCredentials,
      settings.sealedHeaders,
      settings.headersKeyId,
      settings.caCertificates,
      settings.sealedClientCertificate,
      settings.clientCertificateKeyId,
      secret.id,
      secret.sealed,
      secret.keyId,
    ],
  );
  return rows[0] as Endpoint;
}

/** An endpoint with all that a request to it takes, sealed; its active secrets newest first. */
export type SealedEndpoint = Endpoint & EndpointSettings & { secrets: SealedRow[] };

/** Null when there is none. */
export async function readEndpoint(client: Queryable, endpointId: string): Promise<SealedEndpoint | null> {
  const { rows } = await client.query<SealedEndpoint>(
    `select ${endpointColumns}, sealed_headers as "sealedHeaders", headers_key_id as "headersKeyId",
     ca_certificates as "caCertificates", sealed_client_certificate as "sealedClientCertificate",
     client_certificate_key_id as "clientCertificateKeyId", (
       select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'keyId', s.key_id, 'sealed', s.sealed)
         order by s.created_at desc, s.id desc), '[]')
       from endpoint_secrets s where s.endpoint_id = endpoints.id and (s.expires_at is null or s.expires_at > now())
     ) as secrets
     from endpoints where id = $1`,
    [endpointId],
  );
  return rows[0] ?? null;
}

/**
 * Reads an endpoint and keeps other changes of its project waiting until the transaction ends. Null when there is no such
 * endpoint.
 */
export async function lockEndpoint(client: pg.PoolClient, endpointId: string): Promise<Endpoint | null> {
  await client.query(
    'select from projects where id = (select project_id from endpoints where id = $1) for no key update',
    [endpointId],
  );
  const { rows } = await client.query<Endpoint>(`select ${endpointColumns} from endpoints where id = $1`, [
    endpointId,
  ]);
  return rows[0] ?? null;
}

/** Updates the given columns (at least one) and returns the endpoint as it is then; null when there is none. */
export async function updateEndpoint(
  client: Queryable,
  endpointId: string,
  changes: EndpointChanges,
): Promise<Endpoint | null> {
  const names = Object.keys(changes) as (keyof EndpointChanges)[];
  const assignments = names.map((name, index) => `${columnOf[name]} = $${index + 2}`);
  const { rows } = await client.query<Endpoint>(
    `update endpoints set ${assignments.join(', ')} where id = $1 returning ${endpointColumns}`,
    [endpointId, ...names.map((name) => changes[name])],
  );
  return rows[0] ?? null;
}

/** Archives the endpoints of a project that are not archived yet. Returns them as they are then. */
export async function archiveEndpointsOf(
  client: pg.PoolClient,
  projectId: string,
  reason: string,
): Promise<Endpoint[]> {
  const { rows } = await client.query<Endpoint>(
    `update endpoints set enabled = false, disabled_by = 'person', disabled_reason = $2, archived_at = now()
     where project_id = $1 and archived_at is null returning ${endpointColumns}`,
    [projectId, reason],
  );
  return rows;
}

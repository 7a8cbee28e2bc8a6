import type pg from 'pg';
import type { HoldReason } from './held-deliveries.ts';
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
  /** How fast deliveries that were held while it was paused or disabled are let go, per second. */
  releaseRate: number;
  orderingKey: string | null;
  onDeadLetter: 'continue' | 'hold';
  forwardCredentials: boolean;
  /** Whether it has fixed headers, which are sealed. */
  hasHeaders: boolean;
  /** Whether its certificate is checked against authorities of its own. */
  hasCa: boolean;
  /** Whether we show it a client certificate, which is sealed. */
  hasClientCertificate: boolean;
  createdAt: Date;
};

export type EndpointSettings = Pick<
  Endpoint,
  'url' | 'eventTypes' | 'retrySchedule' | 'timeoutMs' | 'orderingKey' | 'forwardCredentials'
> & {
  /** Both or neither are null. */
  sealedHeaders: string | null;
  headersKeyId: string | null;
  /** PEM. */
  caCertificates: string | null;
  /** Both or neither are null. */
  sealedClientCertificate: string | null;
  clientCertificateKeyId: string | null;
};

export type EndpointChanges = Partial<
  EndpointSettings & Pick<Endpoint, 'enabled' | 'disabledBy' | 'disabledReason' | 'paused' | 'releaseRate'>
>;

const endpoint = `id, project_id as "projectId", url, event_types as "eventTypes", retry_schedule as "retrySchedule",
  timeout_ms as "timeoutMs", enabled, disabled_by as "disabledBy", disabled_reason as "disabledReason", paused,
  release_rate as "releaseRate", ordering_key as "orderingKey",
  on_dead_letter as "onDeadLetter", forward_credentials as "forwardCredentials", sealed_headers is not null as "hasHeaders",
  ca_certificates is not null as "hasCa", sealed_client_certificate is not null as "hasClientCertificate",
  created_at as "createdAt"`;

const changeColumns: Readonly<Record<keyof EndpointChanges, string>> = {
  url: 'url',
  eventTypes: 'event_types',
  retrySchedule: 'retry_schedule',
  timeoutMs: 'timeout_ms',
  orderingKey: 'ordering_key',
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
};

/** Commits an endpoint and its signing secret, both or neither. False when there is no such project. */
export async function addEndpoint(
  pool: pg.Pool,
  added: { id: string; projectId: string; settings: EndpointSettings; secret: SealedRow },
): Promise<boolean> {
  const { id, projectId, settings, secret } = added;
  const { rowCount } = await pool.query(
    `with endpoint as (
       insert into endpoints (id, project_id, url, event_types, retry_schedule, timeout_ms, ordering_key, forward_credentials,
         sealed_headers, headers_key_id, ca_certificates, sealed_client_certificate, client_certificate_key_id)
       select $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 from projects where id = $2 returning id
     )
     insert into endpoint_secrets (id, endpoint_id, sealed, key_id) select $14, id, $15, $16 from endpoint`,
    [
      id,
      projectId,
      settings.url,
      settings.eventTypes,
      settings.retrySchedule,
      settings.timeoutMs,
      settings.orderingKey,
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
  return rowCount === 1;
}

/** An endpoint, and how it fares: what its breaker does, and how many of its deliveries are held for which reason. */
export type ListedEndpoint = Endpoint & {
  breaker: {
    state: 'closed' | 'open' | 'half_open';
    /** In a row. */
    failures: number;
    failingSince: Date | null;
    /** When one delivery may try it again; null while it is closed. */
    probeAt: Date | null;
  };
  held: Partial<Record<HoldReason, number>>;
};

/** The endpoints of one project, or of all of them, the oldest first. */
export async function listEndpoints(pool: pg.Pool, projectId?: string): Promise<ListedEndpoint[]> {
  const { rows } = await pool.query<Endpoint & ListedEndpoint['breaker'] & Pick<ListedEndpoint, 'held'>>(
    `select ${endpoint}, coalesce(b.state, 'closed') as state, coalesce(b.failures, 0) as failures,
       b.failing_since as "failingSince", b.probe_at as "probeAt", coalesce(h.held, '{}') as held
     from endpoints
     left join endpoint_breakers b on b.endpoint_id = endpoints.id
     left join (
       select endpoint_id, jsonb_object_agg(reason, count) as held
       from (select endpoint_id, reason, count(*) from held_deliveries group by endpoint_id, reason) as counted
       group by endpoint_id
     ) as h on h.endpoint_id = endpoints.id
     where $1::uuid is null or project_id = $1 order by project_id, created_at, id`,
    [projectId ?? null],
  );
  return rows.map(({ state, failures, failingSince, probeAt, ...rest }) => ({
    ...rest,
    breaker: { state, failures, failingSince, probeAt: state === 'closed' ? null : probeAt },
  }));
}

/** An endpoint with all that a request to it takes, sealed; its active secrets newest first. */
export type WholeEndpoint = Endpoint & EndpointSettings & { secrets: SealedRow[] };

/** Null when there is none. */
export async function readEndpoint(pool: pg.Pool, endpointId: string): Promise<WholeEndpoint | null> {
  const { rows } = await pool.query<WholeEndpoint>(
    `select ${endpoint}, sealed_headers as "sealedHeaders", headers_key_id as "headersKeyId",
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

/** Commits the given changes (at least one) and returns the endpoint as it is then; null when there is none. */
export async function updateEndpoint(
  pool: pg.Pool,
  endpointId: string,
  changes: EndpointChanges,
): Promise<Endpoint | null> {
  const names = Object.keys(changes) as (keyof EndpointChanges)[];
  const assignments = names.map((name, index) => `${changeColumns[name]} = $${index + 2}`);
  const { rows } = await pool.query<Endpoint>(
    `update endpoints set ${assignments.join(', ')} where id = $1 returning ${endpoint}`,
    [endpointId, ...names.map((name) => changes[name])],
  );
  return rows[0] ?? null;
}

/**
 * Adds a signing secret; the active ones sign along until the overlap ends. Returns that moment and the project, or
 * null when there is no such endpoint.
 */
export async function rotateEndpointSecret(
  pool: pg.Pool,
  rotation: { endpointId: string; secret: SealedRow; overlapMs: number },
): Promise<{ projectId: string; overlapEndsAt: Date } | null> {
  const { rows } = await pool.query<{ projectId: string; overlapEndsAt: Date }>(
    `with rotated as (
       select id, project_id, (now() + make_interval(secs => $2))::timestamptz(3) as overlap_ends_at from endpoints where id = $1
     ), old as (
       update endpoint_secrets s set expires_at = overlap_ends_at from rotated
       where s.endpoint_id = rotated.id and (expires_at is null or expires_at > overlap_ends_at)
     ), new as (
       insert into endpoint_secrets (id, endpoint_id, sealed, key_id) select $3, id, $4, $5 from rotated
     )
     select project_id as "projectId", overlap_ends_at as "overlapEndsAt" from rotated`,
    [
      rotation.endpointId,
      rotation.overlapMs / 1_000,
      rotation.secret.id,
      rotation.secret.sealed,
      rotation.secret.keyId,
    ],
  );
  return rows[0] ?? null;
}

import { projectConfig, type ProjectConfig } from '@hqrelay/domain/project-config';
import type { Queryable } from '../queryable.ts';
import { disabledBySql } from './disabled-by.ts';

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const query = `
select jsonb_build_object(
  'version', p.config_version, 'id', p.id, 'provider', p.provider, 'enabled', p.enabled,
  'rateLimitPerMinute', p.rate_limit_per_minute, 'idempotencyTtlSeconds', p.idempotency_ttl_seconds,
  'onConflict', p.on_conflict, 'requireTimestamp', p.require_timestamp,
  'sameBody', p.same_body, 'scheme', p.scheme,
  'sealedSettings', p.sealed_settings, 'settingsKeyId', p.settings_key_id,
  'firstAttemptsCheckedUntil', ${ms('p.first_attempts_checked_until')}, 'createdAt', ${ms('p.created_at')},
  'secrets', (
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'keyId', s.key_id, 'sealed', s.sealed,
      'expiresAt', ${ms('s.expires_at')}) order by s.created_at desc, s.id desc), '[]')
    from project_secrets s
    where s.project_id = p.id and s.revoked_at is null and (s.expires_at is null or s.expires_at > now())),
  'endpoints', (
    select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'url', e.url, 'eventTypes', e.event_types,
      'retrySchedule', e.retry_schedule, 'timeoutMs', e.timeout_ms, 'enabled', e.enabled, 'disabledBy', ${disabledBySql},
      'paused', e.paused, 'orderingKey', e.ordering_key, 'onDeadLetter', e.on_dead_letter,
      'forwardCredentials', e.forward_credentials, 'sealedHeaders', e.sealed_headers, 'headersKeyId', e.headers_key_id,
      'caCertificates', e.ca_certificates, 'sealedClientCertificate', e.sealed_client_certificate,
      'clientCertificateKeyId', e.client_certificate_key_id,
      'secrets', (
        select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'keyId', s.key_id, 'sealed', s.sealed,
          'expiresAt', ${ms('s.expires_at')}) order by s.created_at desc, s.id desc), '[]')
        from endpoint_secrets s where s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > now()))
      ) order by e.created_at, e.id), '[]')
    from endpoints e where e.project_id = p.id)
) as config
from projects p where p.id = any($1::uuid[])`;

/** One project with its active secrets (sealed) and its endpoints; null when there is none. Throws when Postgres fails. */
export async function readProjectConfig(client: Queryable, projectId: string): Promise<ProjectConfig | null> {
  const [config = null] = await readProjectConfigs(client, [projectId]);
  return config === null ? null : projectConfig.parse(config);
}

/** Several projects with one statement, in the order of their ids: each is null, or to be parsed as a `projectConfig`. */
export async function readProjectConfigs(
  client: Queryable,
  projectIds: readonly string[],
): Promise<unknown[]> {
  const { rows } = await client.query<{ config: { id: string } }>(query, [projectIds]);
  const byId = new Map(rows.map(({ config }) => [config.id, config]));
  return projectIds.map((projectId) => byId.get(projectId) ?? null);
}

import type pg from 'pg';

/** Where a sealed value stands. Each name is also the first half of the row name that the value is bound to. */
export type SealedPlace =
  | 'project_secrets'
  | 'endpoint_secrets'
  | 'endpoints.headers'
  | 'endpoints.tls'
  | 'projects.settings'
  | 'alert_rules';

export type SealedValue = {
  place: SealedPlace;
  /** Of its row. */
  id: string;
  projectId: string;
  sealed: string;
  keyId: string;
};

/** Values that another key than `keyId` sealed, in the order of place and id, after `after`. */
export async function listValuesSealedOtherwise(
  pool: pg.Pool,
  keyId: string,
  after: Pick<SealedValue, 'place' | 'id'> | undefined,
  limit: number,
): Promise<SealedValue[]> {
  const { rows } = await pool.query<SealedValue>(
    `select place, id, project_id as "projectId", sealed, key_id as "keyId" from (
       select 'project_secrets' as place, id, project_id, sealed, key_id from project_secrets
       union all select 'endpoint_secrets', s.id, e.project_id, s.sealed, s.key_id
         from endpoint_secrets s join endpoints e on e.id = s.endpoint_id
       union all select 'endpoints.headers', id, project_id, sealed_headers, headers_key_id from endpoints
       union all select 'endpoints.tls', id, project_id, sealed_client_certificate, client_certificate_key_id from endpoints
       union all select 'projects.settings', id, id, sealed_settings, settings_key_id from projects
       union all select 'alert_rules', id, project_id, sealed_channel, channel_key_id from alert_rules
     ) v
     where v.sealed is not null and v.key_id <> $1 and ($2::text is null or (v.place, v.id) > ($2, $3::uuid))
     order by v.place, v.id limit $4`,
    [keyId, after?.place ?? null, after?.id ?? null, limit],
  );
  return rows;
}

const updates: Record<SealedPlace, string> = {
  project_secrets: 'update project_secrets set sealed = $3, key_id = $4 where id = $1 and sealed = $2',
  endpoint_secrets: 'update endpoint_secrets set sealed = $3, key_id = $4 where id = $1 and sealed = $2',
  'endpoints.headers':
    'update endpoints set sealed_headers = $3, headers_key_id = $4 where id = $1 and sealed_headers = $2',
  'endpoints.tls': `update endpoints set sealed_client_certificate = $3, client_certificate_key_id = $4
     where id = $1 and sealed_client_certificate = $2`,
  'projects.settings':
    'update projects set sealed_settings = $3, settings_key_id = $4 where id = $1 and sealed_settings = $2',
  alert_rules:
    'update alert_rules set sealed_channel = $3, channel_key_id = $4 where id = $1 and sealed_channel = $2',
};

/** False when the value has changed meanwhile. */
export async function replaceSealedValue(
  client: pg.PoolClient,
  { place, id, sealed }: SealedValue,
  by: { sealed: string; keyId: string },
): Promise<boolean> {
  const { rowCount } = await client.query(updates[place], [id, sealed, by.sealed, by.keyId]);
  return rowCount === 1;
}

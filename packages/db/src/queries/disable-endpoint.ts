import { newId } from '@hqrelay/domain/ids';
import type { Queryable } from '../queryable.ts';

/**
 * Disables an enabled endpoint on the relay's behalf, with the reason, and inserts its row of `admin_log`. The endpoint is
 * still owed webhooks; its deliveries are held until a person enables it.
 */
export async function disableEndpoint(
  client: Queryable,
  endpointId: string,
  reason: string,
  nowMs: number,
): Promise<void> {
  // The project is locked first, as by every other change of it.
  await client.query(
    `with project as (
       select id from projects where id = (select project_id from endpoints where id = $1) for no key update
     ), disabled as (
       update endpoints set enabled = false, disabled_by = 'relay', disabled_reason = $2
       from project where endpoints.id = $1 and project_id = project.id and enabled returning endpoints.id, project_id
     )
     insert into admin_log (id, actor, action, project_id, target, details)
     select $3, 'relay', 'endpoint.disable', project_id, id, jsonb_build_object(
       'before', jsonb_build_object('enabled', true, 'disabledBy', null, 'disabledReason', null),
       'after', jsonb_build_object('enabled', false, 'disabledBy', 'relay', 'disabledReason', $2::text))
     from disabled`,
    [endpointId, reason, newId(nowMs)],
  );
}

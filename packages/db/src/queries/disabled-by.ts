/**
 * Who disabled an endpoint. A worker of the version before `disabled_by` leaves it null when it disables one; the reason then
 * says that it was the relay.
 */
export const disabledBySql = `coalesce(disabled_by,
  case when not enabled and disabled_reason = 'the endpoint answered 410 Gone' then 'relay'::disabled_by end)`;

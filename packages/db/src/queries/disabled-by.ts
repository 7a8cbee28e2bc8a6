/**
 * Whether the relay or a person disabled an endpoint. A worker of a version without `disabled_by` leaves it null when it
 * disables an endpoint; the reason then shows that the relay did.
 */
export const disabledBySql = `coalesce(disabled_by,
  case when not enabled and disabled_reason = 'the endpoint answered 410 Gone' then 'relay'::disabled_by end)`;

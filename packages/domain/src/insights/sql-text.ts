/**
 * A literal of SQL, whatever `standard_conforming_strings` is. Control and formatting characters are escaped, because they could
 * steer a terminal or reverse the text on a page. NUL is not part of a text of Postgres.
 */
export function literal(value: string | number | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const escaped = value
    .replaceAll('\0', '')
    .replaceAll("'", "''")
    .replaceAll('\\', '\\\\')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeOf);
  return escaped.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}

function escapeOf(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}

/** ms since epoch as a literal. */
function timeLiteral(at: number): string {
  return literal(new Date(at).toISOString());
}

/** A column that lies in a period, which names the partitions to read. */
export function within(column: string, period: { since: number; until: number }): string {
  return `${column} >= ${timeLiteral(period.since)} AND ${column} < ${timeLiteral(period.until)}`;
}

/** Whether a column has a value, or null. */
export function has(column: string, value: string | number | null): string {
  return value === null ? `${column} IS NULL` : `${column} = ${literal(value)}`;
}

/** The failed attempts of an endpoint, the newest first. */
export function failedAttempts(
  endpointId: string,
  period: { since: number; until: number },
  more: string,
): string {
  return `SELECT webhook_log_id, attempted_at, attempt_num, status, status_code, error, latency_ms, response_body
FROM delivery_attempts
WHERE endpoint_id = ${literal(endpointId)} AND status <> 'delivered' AND ${within('attempted_at', period)}${more}
ORDER BY attempted_at DESC LIMIT 1000;`;
}

/** The rows of a project's webhooks, the newest first. */
export function webhooks(projectId: string, period: { since: number; until: number }, more: string): string {
  return `SELECT id AS webhook_log_id, received_at, webhook_id, event_type, status, reason, remote_addr, request_count
FROM webhook_logs
WHERE project_id = ${literal(projectId)} AND ${within('received_at', period)}${more}
ORDER BY received_at DESC LIMIT 1000;`;
}

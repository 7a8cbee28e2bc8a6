/** `All` is every id of this list. */
export const projectVariable =
  'SELECT id::text AS __value, name AS __text FROM projects WHERE archived_at IS NULL ORDER BY name';

const ofProjects = (column: string) => `${column} = ANY (ARRAY[\${project:singlequote}]::uuid[])`;
const failed = "a.status <> 'delivered'";
/** The host alone: a URL can hold a secret. */
const host = "substring(e.url FROM '^[a-z]+://(?:[^/@]*@)?([^/?#]*)')";

export const failuresByEndpoint = `SELECT p.name AS project, ${host} AS host, a.endpoint_id AS endpoint,
  count(*) FILTER (WHERE ${failed}) AS failed, count(*) AS attempts,
  round(100.0 * count(*) FILTER (WHERE ${failed}) / count(*), 1) AS "failed %",
  (array_agg(a.error ORDER BY a.attempted_at DESC) FILTER (WHERE ${failed}))[1] AS "last error"
FROM delivery_attempts a JOIN endpoints e ON e.id = a.endpoint_id JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${ofProjects('a.project_id')}
GROUP BY p.name, e.url, a.endpoint_id HAVING count(*) FILTER (WHERE ${failed}) > 0
ORDER BY failed DESC LIMIT 50`;

export const slowestEndpoints = `SELECT p.name AS project, ${host} AS host, a.endpoint_id AS endpoint, count(*) AS attempts,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY a.latency_ms) AS "p50 ms",
  percentile_disc(0.95) WITHIN GROUP (ORDER BY a.latency_ms) AS "p95 ms",
  max(a.latency_ms) AS "max ms"
FROM delivery_attempts a JOIN endpoints e ON e.id = a.endpoint_id JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${ofProjects('a.project_id')}
GROUP BY p.name, e.url, a.endpoint_id ORDER BY "p95 ms" DESC LIMIT 50`;

export const failuresOverTime = `SELECT $__timeGroupAlias(a.attempted_at, $__interval), p.name AS metric, count(*) AS failed
FROM delivery_attempts a JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${failed} AND ${ofProjects('a.project_id')}
GROUP BY 1, 2 ORDER BY 1`;

export const requestsByProject = `SELECT p.name AS project,
  coalesce(sum(w.request_count) FILTER (WHERE w.status = 'queued'), 0) AS accepted,
  coalesce(sum(w.request_count) FILTER (WHERE w.status = 'duplicate'), 0) AS duplicates,
  coalesce(sum(w.request_count) FILTER (WHERE w.status NOT IN ('queued', 'duplicate')), 0) AS refused,
  mode() WITHIN GROUP (ORDER BY split_part(w.reason, ' ', 1)) FILTER (WHERE w.status NOT IN ('queued', 'duplicate')) AS "most frequent reason"
FROM webhook_logs w JOIN projects p ON p.id = w.project_id
WHERE $__timeFilter(w.received_at) AND ${ofProjects('w.project_id')}
GROUP BY p.name ORDER BY refused DESC, accepted DESC LIMIT 50`;

export const latestFailures = `SELECT a.attempted_at AS time, a.webhook_log_id AS webhook, p.name AS project, ${host} AS host,
  a.attempt_num AS attempt, a.status, a.status_code AS "HTTP", a.error, a.correlation_id AS correlation
FROM delivery_attempts a JOIN endpoints e ON e.id = a.endpoint_id JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${failed} AND ${ofProjects('a.project_id')}
ORDER BY a.attempted_at DESC LIMIT 100`;

const webhook = "nullif(${webhook:sqlstring}, '')::uuid";
/** Inside the id: it selects the partition. */
const receivedAt = `hqrelay_time_of(${webhook})`;

export const webhookHistory = `SELECT received_at AS time, 'received: ' || status AS what, NULL::uuid AS endpoint,
  NULL::integer AS "HTTP", coalesce(reason, event_type) AS detail, correlation_id AS correlation
FROM webhook_logs WHERE id = ${webhook} AND received_at = ${receivedAt}
UNION ALL
SELECT attempted_at, 'attempt ' || attempt_num || ': ' || status, endpoint_id, status_code,
  concat_ws(', ', error, latency_ms || ' ms'), correlation_id
FROM delivery_attempts WHERE webhook_log_id = ${webhook} AND attempted_at BETWEEN ${receivedAt} - interval '1 hour' AND $__timeTo()
UNION ALL
SELECT held_at, 'held: ' || reason, endpoint_id, NULL, 'due ' || due_at, NULL
FROM held_deliveries WHERE webhook_log_id = ${webhook}
UNION ALL
SELECT dead_at, 'dead letter', endpoint_id, NULL, reason, NULL FROM dead_letters WHERE webhook_log_id = ${webhook}
ORDER BY time`;

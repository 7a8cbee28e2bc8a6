/** `All` is every id of this list. */
export const projectVariable =
  'SELECT id::text AS __value, name AS __text FROM projects WHERE archived_at IS NULL ORDER BY name';

const ofProjects = (column: string) => `${column} = ANY (ARRAY[\${project:singlequote}]::uuid[])`;
const failed = "a.status <> 'delivered'";
const refused = "c.status NOT IN ('queued', 'duplicate')";
/** The host alone: a URL can hold a secret. */
const host = "substring(e.url FROM '^[a-z]+://(?:[^/@]*@)?([^/?#]*)')";

// The panels group by ids and look names up afterwards: joined to each attempt, names take longer than the counting.
export const failuresByEndpoint = `WITH counted AS (
  SELECT a.endpoint_id, count(*) AS attempts, count(*) FILTER (WHERE ${failed}) AS failed
  FROM delivery_attempts a
  WHERE $__timeFilter(a.attempted_at) AND ${ofProjects('a.project_id')}
  GROUP BY a.endpoint_id HAVING count(*) FILTER (WHERE ${failed}) > 0
  ORDER BY failed DESC LIMIT 50
)
SELECT p.name AS project, ${host} AS host, c.endpoint_id AS endpoint, c.failed, c.attempts,
  round(100.0 * c.failed / c.attempts, 1) AS "failed %", last.error AS "last error"
FROM counted c JOIN endpoints e ON e.id = c.endpoint_id JOIN projects p ON p.id = e.project_id
CROSS JOIN LATERAL (
  SELECT a.error FROM delivery_attempts a
  WHERE a.endpoint_id = c.endpoint_id AND ${failed} AND $__timeFilter(a.attempted_at)
  ORDER BY a.attempted_at DESC LIMIT 1
) AS last
ORDER BY c.failed DESC`;

// The attempts of each latency are counted first: the percentiles of Postgres sort every attempt, which takes longer.
export const slowestEndpoints = `WITH counted AS (
  SELECT a.endpoint_id, a.latency_ms, count(*) AS attempts
  FROM delivery_attempts a
  WHERE $__timeFilter(a.attempted_at) AND ${ofProjects('a.project_id')}
  GROUP BY a.endpoint_id, a.latency_ms
), ranked AS (
  SELECT endpoint_id, latency_ms, sum(attempts) OVER (PARTITION BY endpoint_id) AS attempts,
    sum(attempts) OVER (PARTITION BY endpoint_id ORDER BY latency_ms) AS up_to
  FROM counted
), measured AS (
  SELECT endpoint_id, max(attempts) AS attempts, min(latency_ms) FILTER (WHERE up_to >= 0.5 * attempts) AS p50,
    min(latency_ms) FILTER (WHERE up_to >= 0.95 * attempts) AS p95, max(latency_ms) AS max
  FROM ranked GROUP BY endpoint_id ORDER BY p95 DESC LIMIT 50
)
SELECT p.name AS project, ${host} AS host, m.endpoint_id AS endpoint, m.attempts, m.p50 AS "p50 ms", m.p95 AS "p95 ms", m.max AS "max ms"
FROM measured m JOIN endpoints e ON e.id = m.endpoint_id JOIN projects p ON p.id = e.project_id
ORDER BY m.p95 DESC`;

export const failuresOverTime = `SELECT $__timeGroupAlias(a.attempted_at, $__interval), p.name AS metric, count(*) AS failed
FROM delivery_attempts a JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${failed} AND ${ofProjects('a.project_id')}
GROUP BY 1, 2 ORDER BY 1`;

export const requestsByProject = `WITH counted AS (
  SELECT w.project_id, w.status, split_part(w.reason, ' ', 1) AS reason, sum(w.request_count) AS requests
  FROM webhook_logs w
  WHERE $__timeFilter(w.received_at) AND ${ofProjects('w.project_id')}
  GROUP BY 1, 2, 3
)
SELECT p.name AS project, coalesce(sum(c.requests) FILTER (WHERE c.status = 'queued'), 0) AS accepted,
  coalesce(sum(c.requests) FILTER (WHERE c.status = 'duplicate'), 0) AS duplicates,
  coalesce(sum(c.requests) FILTER (WHERE ${refused}), 0) AS refused,
  (array_agg(c.reason ORDER BY c.requests DESC) FILTER (WHERE ${refused} AND c.reason IS NOT NULL))[1] AS "most frequent reason"
FROM counted c JOIN projects p ON p.id = c.project_id
GROUP BY p.id ORDER BY refused DESC, accepted DESC LIMIT 50`;

export const latestFailures = `SELECT a.attempted_at AS time, a.webhook_log_id AS webhook, p.name AS project, ${host} AS host,
  a.attempt_num AS attempt, a.status, a.status_code AS "HTTP", a.error, a.correlation_id AS correlation
FROM delivery_attempts a JOIN endpoints e ON e.id = a.endpoint_id JOIN projects p ON p.id = a.project_id
WHERE $__timeFilter(a.attempted_at) AND ${failed} AND ${ofProjects('a.project_id')}
ORDER BY a.attempted_at DESC LIMIT 100`;

const webhook = "nullif(${webhook:sqlstring}, '')::uuid";
/** Inside the id: it selects the partition. */
const receivedAt = `hqrelay_time_of(${webhook})`;

export const webhookHistory = `SELECT received_at AS time,
  'received: ' || status || CASE WHEN request_count > 1 THEN ', ' || request_count || ' times' ELSE '' END AS what, NULL::uuid AS endpoint,
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

import type { Redis } from 'ioredis';

/**
 * Names one uninterrupted history of a Redis: `run_id` changes with every start of the process, `master_replid` also when a
 * replica is promoted. A server whose origin is another may have come back with old data. Throws when INFO is refused.
 */
export async function readOrigin(redis: Redis): Promise<string> {
  const [server, replication] = await Promise.all([redis.info('server'), redis.info('replication')]);
  const runId = /^run_id:(\w+)/m.exec(server)?.[1];
  const replicationId = /^master_replid:(\w+)/m.exec(replication)?.[1];
  if (!runId || !replicationId) throw new Error('INFO names no run_id and master_replid');
  return `${runId}:${replicationId}`;
}

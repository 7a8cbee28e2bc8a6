import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';

export type Script = { source: string; sha1: string };

export function script(source: string): Script {
  return { source, sha1: hash('sha1', source) };
}

/** Runs a script by its hash, and by its source where Redis has not loaded it, as after a restart. */
export async function runScript(
  redis: Redis,
  { source, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(source, keys.length, ...keys, ...args);
  }
}

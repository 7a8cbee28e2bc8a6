import { hash } from 'node:crypto';
import { Command, type Redis } from 'ioredis';

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
    if (!isUnknownScript(error)) throw error;
    return await redis.eval(source, keys.length, ...keys, ...args);
  }
}

/** The same at once, outside the pipeline that collects the commands of a turn: for a call that stands for many. */
export async function runScriptNow(
  redis: Redis,
  { source, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const send = (name: string, first: string) =>
    redis.sendCommand(new Command(name, [first, keys.length, ...keys, ...args], { replyEncoding: 'utf8' }));
  try {
    return await send('evalsha', sha1);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return await send('eval', source);
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

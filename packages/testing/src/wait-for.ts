import { setTimeout as wait } from 'node:timers/promises';

/** No promise about speed: a busy machine may take a minute for what an idle one does in seconds. */
const waitForMs = 180_000;

/** Asks until the answer is neither false nor undefined nor null, and returns it. Throws with the last error when time is up. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const { timeoutMs = waitForMs, everyMs = 25 } = options;
  const deadline = performance.now() + timeoutMs;
  let failure: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause: failure });
    }
    await wait(everyMs);
  }
}

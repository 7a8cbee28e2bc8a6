import { readFileSync } from 'node:fs';

/** Work that lasts longer than its promise by more than this breaks it on any machine. */
const leftOutMsMax = 10_000;
const lateMs = 20;

/**
 * Runs `work` and measures it for a promise about time, such as an answer within 2.5 s. `undisturbedMs` leaves out the time in
 * which processes of this machine waited for a core or a disk: a machine that runs other tests cannot keep such a promise. On an
 * idle machine nothing is left out.
 */
export async function measureUndisturbed<T>(
  work: () => Promise<T>,
): Promise<{ value: T; undisturbedMs: number }> {
  const startedAt = performance.now();
  const waitedBefore = waitedMs();
  let blockedMs = 0;
  let ranAt = startedAt;
  const noteBlocked = () => {
    const now = performance.now();
    if (now - ranAt > 2 * lateMs) blockedMs += now - ranAt - lateMs;
    ranAt = now;
  };
  const timer = setInterval(noteBlocked, lateMs);
  try {
    const value = await work();
    noteBlocked();
    const leftOutMs = Math.min(leftOutMsMax, Math.max(blockedMs, waitedMs() - waitedBefore));
    return { value, undisturbedMs: performance.now() - startedAt - leftOutMs };
  } finally {
    clearInterval(timer);
  }
}

/** How long some process has waited for a core or for a disk since the machine started. 0 where the kernel does not count it. */
function waitedMs(): number {
  return totalOf('cpu') + totalOf('io');
}

function totalOf(resource: 'cpu' | 'io'): number {
  try {
    const total = /^some .*total=(\d+)$/m.exec(readFileSync(`/proc/pressure/${resource}`, 'utf8'))?.[1];
    return Number(total ?? 0) / 1_000;
  } catch {
    // This kernel does not measure pressure, or does not show it.
    return 0;
  }
}

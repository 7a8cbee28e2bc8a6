/**
 * The result of `work`, or a rejection with `new Error(message)` when it takes longer than `timeoutMs`. The work itself goes on:
 * it is not cancelled, and a rejection that comes after the deadline is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {
      // Rejected after the deadline: the caller was told of the timeout.
    });
  }
}

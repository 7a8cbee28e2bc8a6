/**
 * Makes the calls that it is given one at a time, in order and at least `everyMs` apart. A call that has had no other for that
 * long before it is made at once. How many wait is bounded by its callers.
 */
export function createSpacedCalls(everyMs: number): (call: () => void) => void {
  const waiting: (() => void)[] = [];
  let isPausing = false;

  function next(): void {
    const call = waiting.shift();
    isPausing = call !== undefined;
    if (!call) return;
    // A process that stops has aborted the sockets that wait, and must not stay alive for them.
    setTimeout(next, everyMs).unref();
    call();
  }

  return (call) => {
    waiting.push(call);
    if (!isPausing) next();
  };
}

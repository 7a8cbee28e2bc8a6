/**
 * The result of `work`, or a rejection with `new Error(message)` when it takes longer than `timeoutMs`. The work is not
 * cancelled, and a rejection after the deadline is ignored.
 *
 * After a long turn of the event loop Node runs timers before it reads sockets, so an answer that arrived in time may
 * still be unread at the deadline. Two more turns read it first, so that a busy process does not count a fast store as slow.
 */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(message));
    const timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), timeoutMs);
    const ended =
      <V>(end: (outcome: V) => void) =>
      (outcome: V) => {
        clearTimeout(timer);
        end(outcome);
      };
    work.then(ended(resolve), ended(reject));
  });
}

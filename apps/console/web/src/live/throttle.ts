/** Runs at most once in `everyMs`; a call in between runs at the end of it. */
export function throttle(run: () => void, everyMs: number): (() => void) & { cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  const tick = () => {
    timer = undefined;
    if (!isDue) return;
    isDue = false;
    call();
  };
  const call = () => {
    if (timer !== undefined) {
      isDue = true;
      return;
    }
    timer = setTimeout(tick, everyMs);
    run();
  };
  return Object.assign(call, { cancel: () => clearTimeout(timer) });
}

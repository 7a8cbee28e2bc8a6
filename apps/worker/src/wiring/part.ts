/** A piece of the worker with a lifecycle. `stop` is also called when it was never started. */
export type Part = {
  name: string;
  start: () => void | Promise<void>;
  stop: () => void | Promise<void>;
};

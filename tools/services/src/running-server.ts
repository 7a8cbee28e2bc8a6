import type { ServerProcess } from './process/server-process.ts';

/** A server of ours, which a test may also kill and start again. */
export type RunningServer = {
  url: string;
  port: number;
  /** The process that was started; it may have others below it. */
  pid: () => number;
  stop: () => Promise<void>;
  /** SIGKILL to all of it. */
  kill: () => Promise<void>;
  /** Ends it for good and at once: what it held is not wanted any more. */
  discard: () => Promise<void>;
  /** After `stop` or `kill`: same port, same data. */
  start: () => Promise<void>;
  /** SIGSTOP and SIGCONT: it holds its connections and answers nothing. */
  freeze: () => void;
  thaw: () => void;
};

/** Wraps a launcher that starts the server and resolves when it answers. */
export async function runServer(
  address: { url: string; port: number },
  launch: () => Promise<ServerProcess>,
): Promise<RunningServer> {
  let server = await launch();
  return {
    ...address,
    pid: () => server.pid,
    stop: async () => void (await server.stop()),
    kill: () => server.kill(),
    discard: () => server.kill(),
    start: async () => {
      server = await launch();
    },
    freeze: () => server.freeze(),
    thaw: () => void server.signalGroup('SIGCONT'),
  };
}

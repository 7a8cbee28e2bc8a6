import type { ServerProcess } from './process/server-process.ts';

/** A private server, which a test may also kill and start again. */
export type RunningServer = {
  url: string;
  port: number;
  /** The process that was started; it may have children. */
  pid: () => number;
  stop: () => Promise<void>;
  /** SIGKILL to the server and its children. */
  kill: () => Promise<void>;
  /** Ends it at once and for good: its data is discarded. */
  discard: () => Promise<void>;
  /** After `stop` or `kill`: same port, same data. */
  start: () => Promise<void>;
  /** SIGSTOP and SIGCONT: a frozen server keeps its connections open and does not answer. */
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

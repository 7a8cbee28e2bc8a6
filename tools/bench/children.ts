import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** A child process that answers each message with one message. */
type Child = { ask: <Answer>(message: unknown) => Promise<Answer>; end: () => void };

export type Sink = {
  url: string;
  reset: () => Promise<void>;
  count: () => Promise<number>;
  end: () => void;
};

export type GeneratorResult = {
  accepted: number;
  refused: number;
  errors: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Answers from 500 on, which `refused` contains too. */
  serverErrors: number;
};

export type Generator = {
  run: (order: {
    url: string;
    secret: string;
    seconds: number;
    connections: number;
    /** As fast as the connections allow when absent. */
    perSecond?: number;
  }) => Promise<GeneratorResult>;
  end: () => void;
};

export async function startSink(): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink.mjs'), { execArgv: [] });
  const { port } = await nextMessage<{ port: number }>(child);
  const { ask, end } = createChild(child);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    reset: async () => void (await ask('reset')),
    count: async () => (await ask<{ count: number }>('count')).count,
    end,
  };
}

export function startGenerator(): Generator {
  const { ask, end } = createChild(fork(join(import.meta.dirname, 'generator.mjs'), { execArgv: [] }));
  return { run: (order) => ask<GeneratorResult>(order), end };
}

export function createChild(child: ChildProcess): Child {
  return {
    ask: <Answer>(message: unknown) => {
      const answer = nextMessage<Answer>(child);
      child.send(message as object);
      return answer;
    },
    end: () => child.disconnect(),
  };
}

export function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a child process of the benchmark ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as Message);
    });
  });
}

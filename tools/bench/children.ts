import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** A child process that answers each message with one message. */
type Child = { ask: <Answer>(message: unknown) => Promise<Answer>; end: () => void };

export type Sink = {
  url: string;
  /** The same sink at its other addresses. */
  urlAt: (address: number) => string;
  /** Makes every answer wait. */
  delay: (ms: number) => Promise<void>;
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
  /** The ids of the webhooks that were answered 202, where the order asks for them. */
  ids: string[];
};

/** Requests go in turn to each path, and each round of all paths has the next event type. */
export type Traffic = { paths: readonly string[]; eventTypes: readonly string[] };

export type Order = {
  url: string;
  secret: string;
  seconds: number;
  connections: number;
  /** As fast as the connections allow when absent. */
  perSecond?: number;
  /** Of each body; 1 KiB when absent. */
  bodyBytes?: number;
  /** Every request goes to `url` when absent. */
  traffic?: Traffic;
  listIds?: boolean;
};

export type Generator = { run: (order: Order) => Promise<GeneratorResult>; end: () => void };

/** An endpoint at so many addresses of this machine, all with the same port. */
export async function startSink({ addresses = 1 } = {}): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink.mjs'), [String(addresses)], { execArgv: [] });
  const { port } = await nextMessage<{ port: number }>(child);
  const { ask, end } = createChild(child);
  const urlAt = (address: number) => `http://127.0.${address >> 8}.${address & 255}:${port}/hook`;
  return {
    url: urlAt(1),
    urlAt: (address) => urlAt(1 + (address % addresses)),
    delay: async (ms) => void (await ask({ delayMs: ms })),
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

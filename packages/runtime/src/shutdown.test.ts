import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { createShutdown } from './shutdown.ts';

function world(deadlineMs = 1_000) {
  const listeners = new Map<string, (argument: unknown) => void>();
  const log: string[] = [];
  const events: string[] = [];
  let resolveExit: (code: number) => void = () => {};
  const exited = new Promise<number>((resolve) => (resolveExit = resolve));
  const shutdown = createShutdown({
    logger: createLogger({ name: 'test', level: 'info' }, { write: (line: string) => log.push(line) }),
    deadlineMs,
    host: {
      on: (event, listener) => listeners.set(event, listener),
      exit: (code) => {
        events.push(`exit ${code}`);
        resolveExit(code);
      },
    },
  });
  return {
    shutdown,
    events,
    log,
    exited,
    emit: (event: string, argument?: unknown) => listeners.get(event)?.(argument),
  };
}

describe('a process that receives a signal to stop', () => {
  it.each(['SIGTERM', 'SIGINT'])(
    'a process stops on %s what it started, backwards and one after the other, then exits 0',
    async (signal) => {
      const { shutdown, events, emit, exited } = world();
      for (const name of ['store', 'consumer', 'server']) {
        shutdown.add(name, async () => {
          events.push(`${name} stopping`);
          await sleep(1);
          events.push(`${name} stopped`);
        });
      }
      emit(signal);
      expect(await exited).toBe(0);
      expect(events).toEqual([
        'server stopping',
        'server stopped',
        'consumer stopping',
        'consumer stopped',
        'store stopping',
        'store stopped',
        'exit 0',
      ]);
    },
  );

  it('a process is draining from the signal on', () => {
    const { shutdown, emit } = world();
    expect(shutdown.isDraining()).toBe(false);
    emit('SIGTERM');
    expect(shutdown.isDraining()).toBe(true);
  });

  it('a shutdown continues after a step that fails, which is logged by name, and the exit code is 1', async () => {
    const { shutdown, events, log, emit, exited } = world();
    shutdown.add('store', () => void events.push('store'));
    shutdown.add('consumer', () => Promise.reject(new Error('boom')));
    emit('SIGTERM');
    expect(await exited).toBe(1);
    expect(events).toEqual(['store', 'exit 1']);
    expect(log.join()).toMatch(/"step":"consumer".*shutdown\.step_failed/);
  });

  it('a process exits 1 at the deadline of its shutdown and logs the name of the step that hangs', async () => {
    const { shutdown, events, log, emit, exited } = world(20);
    shutdown.add('store', () => void events.push('store'));
    shutdown.add('server', () => new Promise(() => {}));
    emit('SIGTERM');
    expect(await exited).toBe(1);
    expect(events).toEqual(['exit 1']);
    expect(log.join()).toMatch(/"step":"server".*shutdown\.deadline_passed/);
  });

  it('a process exits 1 at once on a second signal', () => {
    const { shutdown, events, emit } = world();
    shutdown.add('server', () => new Promise(() => {}));
    emit('SIGTERM');
    expect(events).toEqual([]);
    emit('SIGINT');
    expect(events).toEqual(['exit 1']);
  });
});

it.each(['uncaughtException', 'unhandledRejection'])(
  'an %s is logged and ends the process with 1',
  (event) => {
    const { events, log, emit } = world();
    emit(event, new Error('boom'));
    expect(events).toEqual(['exit 1']);
    expect(log.join()).toMatch(/"level":"fatal".*boom/);
  },
);

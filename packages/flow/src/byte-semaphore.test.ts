import { expect, it } from 'vitest';
import { ByteSemaphore } from './byte-semaphore.ts';

function work(semaphore: ByteSemaphore) {
  const running: { name: string; bytes: number; end: () => void }[] = [];
  const order: string[] = [];
  const add = (name: string, bytes: number, giveUp?: AbortSignal) => {
    const begin = () => {
      order.push(name);
      return new Promise<void>((resolve) => {
        running.push({ name, bytes, end: resolve });
      });
    };
    return giveUp ? semaphore.run(bytes, begin, giveUp) : semaphore.run(bytes, begin);
  };
  const endAll = async () => {
    for (const { end } of running.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { add, endAll, order, bytes: () => running.reduce((sum, { bytes }) => sum + bytes, 0) };
}

it('a byte semaphore admits work that fits at once, and the rest in the order of arrival', async () => {
  const { add, endAll, order, bytes } = work(new ByteSemaphore(10));
  for (const [name, size] of [
    ['a', 4],
    ['b', 6],
    ['c', 5],
    ['d', 6],
    ['e', 1],
  ] as const) {
    void add(name, size);
  }
  expect(bytes()).toBe(10);
  await endAll();
  expect(order).toEqual(['a', 'b', 'c']);
  await endAll();
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(bytes()).toBe(7);
});

it('a byte semaphore admits work over its bound alone', async () => {
  const { add, endAll, order } = work(new ByteSemaphore(10));
  void add('small', 1);
  void add('huge', 100);
  void add('next', 1);
  expect(order).toEqual(['small']);
  await endAll();
  expect(order).toEqual(['small', 'huge']);
  await endAll();
  expect(order).toEqual(['small', 'huge', 'next']);
});

it('a byte semaphore admits the next work after a failure, and passes the failure on', async () => {
  const semaphore = new ByteSemaphore(1);
  const failing = semaphore.run(1, () => Promise.reject(new Error('broken')));
  const next = semaphore.run(1, async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

it('work that gives up while it waits for a byte semaphore never runs, and makes room for smaller work behind it', async () => {
  const { add, endAll, order, bytes } = work(new ByteSemaphore(10));
  const giveUp = new AbortController();
  void add('a', 8);
  const huge = add('huge', 9, giveUp.signal);
  void add('b', 2);
  expect(order).toEqual(['a']);
  giveUp.abort();
  expect(await huge).toBeUndefined();
  expect(order).toEqual(['a', 'b']);
  expect(bytes()).toBe(10);
  await endAll();
  void add('c', 10);
  expect(order).toEqual(['a', 'b', 'c']);
});

it('work that gave up before it would wait for a byte semaphore never runs, and work that runs ends in spite of it', async () => {
  const semaphore = new ByteSemaphore(1);
  const giveUp = new AbortController();
  let end: (outcome: string) => void = () => {};
  const running = semaphore.run(1, () => new Promise<string>((resolve) => (end = resolve)), giveUp.signal);
  giveUp.abort();
  const late = await semaphore.run(1, () => Promise.reject(new Error('ran')), giveUp.signal);
  expect(late).toBeUndefined();
  end('done');
  expect(await running).toBe('done');
});

import { expect, it } from 'vitest';
import { ByteGate } from './byte-gate.ts';

function work(gate: ByteGate) {
  const running: { name: string; bytes: number; end: () => void }[] = [];
  const order: string[] = [];
  const add = (name: string, bytes: number) =>
    gate.pass(bytes, () => {
      order.push(name);
      return new Promise<void>((resolve) => {
        running.push({ name, bytes, end: resolve });
      });
    });
  const endAll = async () => {
    for (const { end } of running.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { add, endAll, order, bytes: () => running.reduce((sum, { bytes }) => sum + bytes, 0) };
}

it('lets in what fits, the rest in its order', async () => {
  const { add, endAll, order, bytes } = work(new ByteGate(10));
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

it('lets in what would never fit when nothing else is in', async () => {
  const { add, endAll, order } = work(new ByteGate(10));
  void add('small', 1);
  void add('huge', 100);
  void add('next', 1);
  expect(order).toEqual(['small']);
  await endAll();
  expect(order).toEqual(['small', 'huge']);
  await endAll();
  expect(order).toEqual(['small', 'huge', 'next']);
});

it('lets the next one in after one that failed, and passes the failure on', async () => {
  const gate = new ByteGate(1);
  const failing = gate.pass(1, () => Promise.reject(new Error('broken')));
  const next = gate.pass(1, async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tryLock, withLock } from './folder-lock.mjs';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hqrelay-lock-'));
  file = join(folder, 'below', 'some.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a lock that is held names its holder, and is free after its release', () => {
  const lock = tryLock(file);
  expect(tryLock(file)).toEqual({ kind: 'held', pid: process.pid });
  if (lock.kind === 'locked') lock.release();
  expect(tryLock(file).kind).toBe('locked');
});

test('the lock of a process that died is taken over', async () => {
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { tryLock } from ${JSON.stringify(new URL('./folder-lock.mjs', import.meta.url).href)};
     tryLock(${JSON.stringify(file)}); process.kill(process.pid, 'SIGKILL');`,
  ]);
  await once(holder, 'exit');
  expect(existsSync(file)).toBe(true);
  expect(tryLock(file).kind).toBe('locked');
});

test('a process that has the id of a dead holder does not hold its lock', () => {
  const lock = tryLock(file);
  expect(lock.kind).toBe('locked');
  const holder = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; startedAt: string };
  writeFileSync(file, JSON.stringify({ ...holder, startedAt: `${holder.startedAt}0` }));
  expect(tryLock(file).kind).toBe('locked');
});

test('a lock file that is being written counts as held', () => {
  tryLock(file);
  writeFileSync(file, '');
  expect(tryLock(file)).toEqual({ kind: 'held', pid: 0 });
});

test('two calls with the same lock run one after the other, and the second reports its wait once', async () => {
  const events: string[] = [];
  const work = (name: string) =>
    withLock(
      file,
      () => events.push(`${name} waits`),
      async () => {
        events.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`${name} ends`);
      },
    );
  await Promise.all([work('first'), work('second')]);
  expect(events).toEqual(['first begins', 'second waits', 'first ends', 'second begins', 'second ends']);
});

test('an error of the work under a lock is thrown, and the lock is released', async () => {
  const failing = withLock(
    file,
    () => {},
    () => Promise.reject(new Error('no')),
  );
  await expect(failing).rejects.toThrow('no');
  expect(tryLock(file).kind).toBe('locked');
});

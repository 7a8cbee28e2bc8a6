import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeThrowAwayFolder, removeThrowAwayFolder } from './throw-away-folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'hqrelay-parent-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

test('a folder whose process was killed is removed when the next one is made', () => {
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const abandoned = join(parent, 'run-abandoned');
  mkdirSync(abandoned);
  writeFileSync(join(abandoned, 'owner.pid'), String(dead));

  makeThrowAwayFolder('run-', parent);

  expect(existsSync(abandoned)).toBe(false);
});

test('folders of living processes, folders without an owner file, and folders of another prefix are not removed', () => {
  const mine = makeThrowAwayFolder('run-', parent);
  for (const name of ['run-unmarked', 'other']) mkdirSync(join(parent, name));
  makeThrowAwayFolder('run-', parent);
  for (const folder of [mine, join(parent, 'run-unmarked'), join(parent, 'other')]) {
    expect(existsSync(folder)).toBe(true);
  }
  removeThrowAwayFolder(mine);
  expect(existsSync(mine)).toBe(false);
});

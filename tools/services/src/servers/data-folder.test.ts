import { chmodSync, existsSync, lstatSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dataFolderFor, removeDataFolder, runsAsRoot } from './data-folder.ts';

/** A user of every Debian that is not root. */
const user = { name: 'daemon', uid: 1 };
let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'hqrelay-parent-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

test.runIf(runsAsRoot())('a server whose user can enter the path has its data there', () => {
  chmodSync(parent, 0o711);
  const path = join(parent, 'data');
  dataFolderFor(path, user.name);
  expect(lstatSync(path).isDirectory()).toBe(true);
  expect(statSync(path).uid).toBe(user.uid);
});

test.runIf(runsAsRoot())(
  'a server whose user cannot enter the path has its data in another folder, which is removed with the link to it',
  () => {
    chmodSync(parent, 0o700);
    const path = join(parent, 'data');
    dataFolderFor(path, user.name);
    const elsewhere = realpathSync(path);
    expect(elsewhere.startsWith(parent)).toBe(false);
    expect(statSync(elsewhere).uid).toBe(user.uid);
    dataFolderFor(path, user.name);
    expect(realpathSync(path)).toBe(elsewhere);

    removeDataFolder(path);

    expect(existsSync(elsewhere)).toBe(false);
    expect(existsSync(path)).toBe(false);
  },
);

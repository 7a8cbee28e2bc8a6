import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeDataFolder } from './servers/data-folder.ts';

const ownerFile = 'owner.pid';

/** Makes a folder for private servers that lasts as long as this process, and removes those of killed processes. */
export function makeThrowAwayFolder(prefix: string, parent = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix) && isAbandoned(join(parent, name))) removeIfPossible(join(parent, name));
  }
  const folder = mkdtempSync(join(parent, prefix));
  writeFileSync(join(folder, ownerFile), String(process.pid));
  // The users of the servers have to enter it.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeThrowAwayFolder(folder: string): void {
  removeDataFolder(join(folder, 'postgres'));
  // A server that is ending may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** Ignores a folder that cannot be removed, such as a mounted disk. */
function removeIfPossible(folder: string): void {
  try {
    removeThrowAwayFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
  }
}

function isAbandoned(folder: string): boolean {
  if (!existsSync(join(folder, ownerFile))) return false;
  try {
    process.kill(Number(readFileSync(join(folder, ownerFile), 'utf8')), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

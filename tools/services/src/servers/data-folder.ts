import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const runsAsRoot = (): boolean => process.getuid?.() === 0;

type User = { uid: number; gid: number };

function findUser(name: string): User | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  if (!line) return undefined;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Makes a folder that `userName` owns. Where that user cannot enter the path, such as below root's home folder, `path` becomes
 * a link to a folder elsewhere.
 */
export function dataFolderFor(path: string, userName: string): void {
  const user = findUser(userName);
  if (!user) throw new Error(`there is no user ${userName} on this system`);
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    if (canReach(dirname(path), user)) mkdirSync(path);
    else {
      rmSync(path, { force: true });
      const elsewhere = mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'hqrelay-'));
      symlinkSync(elsewhere, path);
    }
  }
  chownSync(path, user.uid, user.gid);
}

/** Removes a data folder, and the folder that it links to. */
export function removeDataFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    rmSync(readlinkSync(path), { recursive: true, force: true });
  }
  rmSync(path, { recursive: true, force: true });
}

function canReach(path: string, user: User): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

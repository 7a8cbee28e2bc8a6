import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {{ pid: number, startedAt: string }} Holder */

const pollMs = 200;
/** Either another process is writing a lock file without a readable holder, or its writer died before it had finished. */
const unreadableMs = 2_000;

/**
 * Runs `work` while no other process of this machine runs its own under the same lock. The lock of a process that
 * died is taken over.
 *
 * @template T
 * @param {string} file
 * @param {(pid: number) => void} onWait called once, when another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, onWait, work) {
  let isReported = false;
  for (;;) {
    const lock = tryLock(file);
    if (lock.kind === 'locked') {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (!isReported) onWait(lock.pid);
    isReported = true;
    await delay(pollMs);
  }
}

/**
 * @param {string} file
 * @returns {{ kind: 'locked', release: () => void } | { kind: 'held', pid: number }} pid is 0 while it is unknown
 */
export function tryLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(processIdentity(process.pid)), { flag: 'wx' });
      return { kind: 'locked', release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const holder = readHolder(file);
    if (holder === 'absent') continue;
    if (holder === 'unreadable') return { kind: 'held', pid: 0 };
    if (holder !== 'dead') return { kind: 'held', pid: holder.pid };
    removeDeadLock(file);
  }
}

/**
 * @param {string} file
 * @returns {Holder | 'absent' | 'unreadable' | 'dead'}
 */
function readHolder(file) {
  let ageMs;
  try {
    ageMs = Date.now() - statSync(file).mtimeMs;
    const holder = /** @type {Holder} */ (JSON.parse(readFileSync(file, 'utf8')));
    return processIdentity(holder.pid)?.startedAt === holder.startedAt ? holder : 'dead';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'absent';
    if (!(error instanceof SyntaxError)) throw error;
    return (ageMs ?? 0) < unreadableMs ? 'unreadable' : 'dead';
  }
}

/** Renaming is atomic: of several processes that found the same dead holder, one removes its file. @param {string} file */
function removeDeadLock(file) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/**
 * The system reuses process ids, so the start time tells a new process from the holder, where the system shows it.
 *
 * @param {number} pid
 * @returns {Holder | undefined} undefined when no such process lives
 */
function processIdentity(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) return undefined;
  }
  return { pid, startedAt: startTime(pid) };
}

/** @param {number} pid */
function startTime(pid) {
  try {
    // The second field, the command's name, may contain anything: count from the parenthesis that closes it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return fields?.[19] ?? '';
  } catch {
    // The process has ended, or this system has no /proc.
    return '';
  }
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}

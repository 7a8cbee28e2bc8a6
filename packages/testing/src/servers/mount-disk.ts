import { execFileSync } from 'node:child_process';

/**
 * Whether this process may mount a disk that a private server sees: tests of a full disk are skipped where it may not. The
 * servers of HQRELAY_SERVERS_DIR may have another root directory, in which a disk mounted later does not appear.
 */
export const mayMount =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  process.env['HQRELAY_SERVERS_DIR'] === undefined;

/** A disk in memory, of this size, at a folder. */
export function mountDisk(folder: string, mib: number): { unmount: () => void } {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=755`, 'none', folder]);
  // Lazily: a server that was killed may still have files open.
  return { unmount: () => void execFileSync('umount', ['--lazy', folder]) };
}

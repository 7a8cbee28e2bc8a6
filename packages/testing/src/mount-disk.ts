import { execFileSync } from 'node:child_process';

/** Whether this process may mount a disk: where it may not, tests of a full one cannot be run. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

/** A disk in memory, of this size, at a folder. */
export function mountDisk(folder: string, mib: number): { unmount: () => void } {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=755`, 'none', folder]);
  // Lazily: a server that was killed may still be letting go of its files.
  return { unmount: () => void execFileSync('umount', ['--lazy', folder]) };
}

// A run that exits before it is stopped, as vitest does on a signal. Prints the folder and the processes that must be removed.
import { readFileSync, readdirSync } from 'node:fs';
import { startRunServices } from '../src/run-services.ts';

const { urls } = await startRunServices(() => {});
const pids = readdirSync('/proc')
  .filter((name) => /^\d+$/.test(name))
  .map(Number)
  .filter((pid) => parentOf(pid) === process.pid);
process.stdout.write(JSON.stringify({ folder: urls.folder, pids }), () => process.exit(7));

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}

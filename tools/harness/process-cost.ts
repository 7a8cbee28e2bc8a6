import { readdirSync, readFileSync } from 'node:fs';

/** A second of CPU in the units of /proc (`getconf CLK_TCK`): 100 on every usual Linux. */
const ticksPerSecond = 100;

type Stat = { pid: number; parent: number; ticks: number };

/**
 * CPU that each process and all its descendants have used since they started, µs; ended children count for their parents. Found
 * by parent, not by process group: Postgres gives each of its backends a session of its own.
 */
export function cpuMicroseconds(pids: Readonly<Record<string, number>>): Record<string, number> {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const below = (pid: number): Stat[] => {
    const children = stats.filter(({ parent }) => parent === pid);
    return [...children, ...children.flatMap((child) => below(child.pid))];
  };
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => {
      const tree = [...stats.filter((stat) => stat.pid === pid), ...below(pid)];
      const ticks = tree.reduce((sum, stat) => sum + stat.ticks, 0);
      return [name, (ticks / ticksPerSecond) * 1_000_000];
    }),
  );
}

/** The most memory the process itself has held, MiB. */
export function peakMemoryMib(pid: number): number {
  return statusMib(pid, 'VmHWM');
}

/** The memory the process itself holds, MiB. */
export function memoryMib(pid: number): number {
  return statusMib(pid, 'VmRSS');
}

function statusMib(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) / 1_024;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { pid, parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
  } catch {
    // The process has ended.
    return undefined;
  }
}

import { readdirSync, readFileSync } from 'node:fs';

/** The living children of a process that are not in its process group. Empty where the system has no /proc. */
export function childrenInOtherGroups(pid: number): number[] {
  return childrenOf(pid).filter((child) => {
    const stat = statOf(child);
    return stat !== undefined && stat.group !== pid;
  });
}

/** Whether the process runs or is stopped. A zombie has ended. */
export function isAlive(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Whether every thread of the process is stopped. True where the system has no /proc. */
export function isStopped(pid: number): boolean {
  return threadsOf(pid).every((thread) => (statOf(`${pid}/task/${thread}`)?.state ?? 'T') === 'T');
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => {
    try {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
      return children.trim().split(' ').filter(Boolean).map(Number);
    } catch {
      // The thread has ended.
      return [];
    }
  });
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // The process has ended.
    return [];
  }
}

function statOf(path: number | string): { state: string; group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${path}/stat`, 'latin1');
    // The name before it may contain any character, also spaces and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: state ?? '', group: Number(group) };
  } catch {
    // The process or thread has ended.
    return undefined;
  }
}

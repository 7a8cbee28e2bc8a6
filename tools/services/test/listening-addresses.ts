import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The addresses on which these processes listen, as the kernel writes them: hexadecimal, in its byte order. */
export function listeningAddresses(pids: readonly string[]): string[] {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/net/${family}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === listening && sockets.has(columns[9] ?? ''))
      .map((columns) => columns[1]?.split(':')[0] ?? ''),
  );
}

const listening = '0A';

function socketsOf(pid: string): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}

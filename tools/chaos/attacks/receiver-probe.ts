import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import type { AppProcess } from '@hqrelay/services/app-process';
import { cpuMicroseconds } from '../../harness/process-cost.ts';

export type ProbeFigures = {
  /** The slowest answer of `/health`, ms. */
  healthMs: number;
  /** Checks without a 200 within 2 s. */
  unhealthy: number;
  /** The most memory that one receiver held. */
  receiverMib: number;
  /** What the busier receiver used of a core, %. */
  receiverCpu: number;
};

const everyMs = 250;
const timeoutMs = 2_000;
const pageBytes = 4_096;

/** Checks `/health` of each receiver on connections of its own, as an orchestrator does, and reads the receiver's memory. */
export function startProbe(receivers: readonly AppProcess[]): { stop: () => ProbeFigures } {
  const figures = { healthMs: 0, unhealthy: 0, receiverMib: 0 };
  const startedAt = performance.now();
  const pids = Object.fromEntries(receivers.map((receiver) => [receiver.name, receiver.pid()]));
  const before = cpuMicroseconds(pids);
  const check = async (receiver: AppProcess) => {
    const tookMs = await healthMs(receiver.port);
    if (tookMs === undefined) figures.unhealthy += 1;
    else figures.healthMs = Math.max(figures.healthMs, Math.round(tookMs));
    figures.receiverMib = Math.max(figures.receiverMib, residentMib(receiver.pid()));
  };
  const timer = setInterval(() => {
    for (const receiver of receivers) void check(receiver);
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      const elapsedMs = performance.now() - startedAt;
      const used = Object.entries(cpuMicroseconds(pids)).map(([name, us]) => us - (before[name] ?? 0));
      return { ...figures, receiverCpu: Math.round(Math.max(...used) / elapsedMs / 10) };
    },
  };
}

function healthMs(port: number): Promise<number | undefined> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/health', agent: false, timeout: timeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? performance.now() - startedAt : undefined);
    })
      .once('timeout', () => resolve(undefined))
      .once('error', () => resolve(undefined));
  });
}

function residentMib(pid: number): number {
  const [, pages = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
  return Math.round((pages * pageBytes) / (1 << 20));
}

import { once } from 'node:events';
import type { Logger } from '@hqrelay/runtime/logger';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { createJobRunner, type Job, type JobRun } from './runner.ts';

function runnerOf(job: Job) {
  const logs: [object, string][] = [];
  const log = (fields: object, event: string) => void logs.push([fields, event]);
  return { logs, ...createJobRunner({ job }, { warn: log, info: log } as unknown as Logger) };
}

describe('the job runner', () => {
  it('the job runner aborts a long run when it stops, and waits for the end of that run', async () => {
    const ended: string[] = [];
    const runner = runnerOf({
      everyMs: 1,
      run: async (stopping) => {
        await once(stopping, 'abort');
        ended.push('long');
      },
    });
    runner.start();
    await runner.stop();
    expect(ended).toEqual(['long']);
  });

  it('the job runner runs a job again after a failure, and logs the failure', async () => {
    let runs = 0;
    const runner = runnerOf({
      everyMs: 1,
      run: async () => {
        runs += 1;
        throw new Error('refused');
      },
    });
    runner.start();
    await waitFor('a third run', () => runs >= 3);
    await runner.stop();
    expect(runner.logs[0]).toMatchObject([{ job: 'job', err: new Error('refused') }, 'job.failed']);
  });

  it('the job runner starts no run after it was stopped', async () => {
    let runs = 0;
    const runner = runnerOf({ everyMs: 0, run: async () => void (runs += 1) });
    runner.start();
    await runner.stop();
    const before = runs;
    // This timer is due after the timer of the next run.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(runs).toBe(before);
  });

  it('the job runner derives the next delay from the last run, and logs a run that did something', async () => {
    const seen: JobRun[] = [];
    const runner = runnerOf({
      everyMs: (last) => (seen.push(last), 1),
      event: 'things.done',
      run: async () => 2 - Math.min(seen.length, 2),
    });
    runner.start();
    await waitFor('three runs', () => seen.length >= 3);
    await runner.stop();
    expect(seen.slice(0, 3).map(({ count }) => count)).toEqual([2, 1, 0]);
    expect(runner.logs).toEqual([
      [{ count: 2 }, 'things.done'],
      [{ count: 1 }, 'things.done'],
    ]);
  });
});

import { once } from 'node:events';
import type { Logger } from '@hqrelay/runtime/logger';
import { describe, expect, it } from 'vitest';
import { startMaintenance } from './runner.ts';

const logger = { warn: () => {} } as unknown as Logger;

describe('maintenance', () => {
  it('tells a job that goes on for long that the worker stops, and waits for its end', async () => {
    const told: string[] = [];
    const maintenance = startMaintenance(
      [
        {
          name: 'long',
          everyMs: 1,
          run: async (stopping) => {
            await once(stopping, 'abort');
            told.push('long');
          },
        },
      ],
      logger,
    );
    await maintenance.stop();
    expect(told).toEqual(['long']);
  });

  it('runs a job that failed again, and none after the stop', async () => {
    let runs = 0;
    let resolveThird = () => {};
    const third = new Promise<void>((resolve) => (resolveThird = resolve));
    const run = async () => {
      runs += 1;
      if (runs === 3) resolveThird();
      throw new Error('not this time');
    };
    const maintenance = startMaintenance([{ name: 'failing', everyMs: 1, run }], logger);
    await third;
    await maintenance.stop();
    const before = runs;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(before);
  });
});

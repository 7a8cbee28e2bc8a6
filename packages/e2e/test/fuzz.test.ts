import { seedProject } from '@hqrelay/testing/seed';
import { expect, it } from 'vitest';
import { noFigures, runCases } from '../../../tools/chaos/fuzz/run-cases.ts';
import { openApp, openWorld } from './open-world.ts';

// The long form: `npm run chaos -- --fuzz`.
const seed = 20_261_122;
const requests = 450;

it('a receiver answers requests of every wrong kind in the form of the contract, with no fault of its own', async () => {
  const world = await openWorld();
  const project = await seedProject(world);
  const receiver = await openApp('receiver', { ...world.env, LOG_LEVEL: 'warn' });
  await receiver.waitUntilReady();
  const figures = noFigures();
  await runCases(figures, { port: receiver.port, seed, target: { project }, from: 0, until: requests });
  expect(figures.problems).toEqual([]);
  expect(figures.requests).toBe(requests);
  // Each status that only the receiver's own code answers was reached.
  expect(Object.keys(figures.answers)).toEqual(
    expect.arrayContaining(['202', '400', '401', '404', '405', '431']),
  );
  expect(receiver.isRunning()).toBe(true);
});

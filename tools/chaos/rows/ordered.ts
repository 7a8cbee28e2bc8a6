import type { Row } from '../row.ts';
import { postgresStopped, rabbitmqRestart } from './store-outages.ts';
import { workerKill } from './worker-kill.ts';

/** The faults of other rows, with an endpoint of which each key arrives in order in spite of them. */
export const orderedRows: readonly Row[] = [workerKill, rabbitmqRestart, postgresStopped].map((row) => ({
  ...row,
  name: `ordered-${row.name}`,
  fault: `${row.fault}, with an ordered endpoint`,
  ordered: true,
  // What a killed worker had claimed waits for its claim, and what was spilled for its sequences.
  withinMs: 120_000,
}));

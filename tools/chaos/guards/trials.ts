import { join } from 'node:path';
import type { AppSource } from '@hqrelay/services/app-process';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { guards, type Guard } from './guards.ts';
import type { Row } from '../row.ts';
import { runRow, type RowResult } from '../run-row.ts';

export type Trial = {
  guard: Guard;
  /** What the row said of the product as it is, and of the product without the guard. */
  withGuard: string;
  withoutGuard: string;
  passed: boolean;
};

/**
 * Commits take their time: what is between an acknowledgement and its row, or a mark and its message, then is for certain
 * in flight when a process is killed.
 */
export const slowCommits = ['commit_delay=50000', 'commit_siblings=0'];

/**
 * Takes each guard out of a copy of the built apps and runs its row: a row that stays green without the guard would not
 * have noticed its loss. The same row with the guard in place must not say the same.
 */
export async function runGuardTrials(
  services: DurableServices,
  rows: readonly Row[],
  only: readonly string[],
  say: (line: string) => void,
): Promise<Trial[]> {
  const chosen = guards.filter(({ name }) => only.length === 0 || only.includes(name));
  const whole = copyBuiltApps(join(services.folder, 'apps'));
  const controls = new Map<string, RowResult>();
  const run = async (name: string, apps: AppSource) => {
    const row = rows.find((each) => each.name === name);
    if (!row) throw new Error(`there is no row ${name}`);
    await services.restore();
    return runRow(row, {
      services,
      apps,
      brief: false,
      withinMs: 45_000,
      say: () => {},
    });
  };
  const trials: Trial[] = [];
  for (const guard of chosen) {
    say(`\n${guard.name}: without it, ${guard.without}`);
    const control = controls.get(guard.row) ?? (await run(guard.row, whole));
    controls.set(guard.row, control);
    say(`  ${guard.row} with it: ${reasonsOf(control)}`);
    const patched = copyBuiltApps(join(services.folder, `without-${guard.name}`), guard.patches);
    const result = await run(guard.row, patched);
    say(`  ${guard.row} without it: ${reasonsOf(result)}`);
    const passed = !guard.expects.test(reasonsOf(control)) && guard.expects.test(reasonsOf(result));
    say(`  ${passed ? 'the row tells' : 'THE ROW DOES NOT TELL'}`);
    trials.push({ guard, withGuard: reasonsOf(control), withoutGuard: reasonsOf(result), passed });
  }
  return trials;
}

function reasonsOf({ outcome }: RowResult): string {
  return outcome.kind === 'green' ? 'green' : `${outcome.kind}: ${outcome.reasons.join('; ')}`;
}

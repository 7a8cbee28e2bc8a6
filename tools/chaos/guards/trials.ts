import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { whyNotInjected, type InjectedFault } from '../faults/injected-fault.ts';
import type { RowResult } from '../outcome/conclude.ts';
import type { Row } from '../row.ts';
import { runRow } from '../run-row.ts';
import { guards, type Guard } from './guards.ts';

export type Trial = {
  guard: Guard;
  /** The row's outcome with the guard, and without it. */
  withGuard: string;
  withoutGuard: string;
  passed: boolean;
};

/**
 * Slow commits: a row whose commit is not awaited is then certain to be in flight when a process is killed after its
 * acknowledgement, and so is a message after its mark.
 */
export const slowCommits = ['commit_delay=50000', 'commit_siblings=0'];

/**
 * Runs each guard's row with the guard and without it. A row that stays green without its guard fails the trial, because it does
 * not prove the guard. A trial whose fault no app has run fails too.
 */
export async function runGuardTrials(
  services: DurableServices,
  rows: readonly Row[],
  only: readonly string[],
  say: (line: string) => void,
): Promise<Trial[]> {
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const controls = new Map<string, RowResult>();
  const run = async (name: string, fault?: InjectedFault) => {
    const row = rows.find((each) => each.name === name);
    if (!row) throw new Error(`there is no row ${name}`);
    await services.restore();
    const options = { services, apps, brief: false, withinMs: 45_000, say: () => {} };
    return runRow(row, { ...options, ...(fault && { fault }) });
  };
  const trials: Trial[] = [];
  for (const guard of guards.filter(({ name }) => only.length === 0 || only.includes(name))) {
    say(`\n${guard.name}: without it, ${guard.without}`);
    const control = controls.get(guard.row) ?? (await run(guard.row));
    controls.set(guard.row, control);
    const withGuard = reasonsOf(control);
    say(`  ${guard.row} with it: ${withGuard}`);
    const fault = { name: guard.name, log: join(services.folder, `fault-${guard.name}.log`) };
    const result = await run(guard.row, fault);
    const notInjected = whyNotInjected(fault);
    const withoutGuard = notInjected ? `NOT INJECTED: ${notInjected}` : reasonsOf(result);
    say(`  ${guard.row} without it: ${withoutGuard}`);
    const passed = !notInjected && !guard.expects.test(withGuard) && guard.expects.test(withoutGuard);
    say(`  ${passed ? 'the row detects it' : 'THE ROW DOES NOT DETECT IT'}`);
    trials.push({ guard, withGuard, withoutGuard, passed });
  }
  return trials;
}

function reasonsOf({ outcome }: RowResult): string {
  return outcome.kind === 'green' ? 'green' : `${outcome.kind}: ${outcome.reasons.join('; ')}`;
}

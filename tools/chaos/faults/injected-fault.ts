import { existsSync, readFileSync } from 'node:fs';
import { faults } from './faults.mjs';

/** A fault that `inject.mjs` puts into the apps, and the file in which they report it. */
export type InjectedFault = { name: string; log: string };

/** The variables that name the fault for an app. */
export function faultEnvironment(fault: InjectedFault | undefined): Record<string, string> {
  return fault ? { HQRELAY_CHAOS_FAULT: fault.name, HQRELAY_CHAOS_FAULT_LOG: fault.log } : {};
}

/** Why the trial of a fault proves nothing: there is no such fault, no app loaded its module, or none ran the replacement. */
export function whyNotInjected({ name, log }: InjectedFault): string | undefined {
  const reports = existsSync(log) ? readFileSync(log, 'utf8') : '';
  const chosen = faults[name] ?? [];
  if (chosen.length === 0) return `there is no fault ${name}`;
  const missing = chosen.find((fault) => !reports.includes(`${fault.module}#${fault.name}\n`));
  if (missing) return `no app loaded ${missing.module}`;
  return reports.includes('used ') ? undefined : `no app ran what replaces ${chosen[0]?.name}`;
}

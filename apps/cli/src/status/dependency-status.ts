import { withTimeout } from '@hqrelay/flow/with-timeout';

/** Until a dependency counts as down, and until one of its figures is left out. */
export const timeoutMs = 3_000;

export type DependencyStatus = {
  name: 'postgres' | 'redis' | 'rabbitmq';
  state: 'up' | 'down';
  /** Why it is down, without credentials; null while it is up. */
  reason: string | null;
};

/** Figures of a dependency; a figure that could not be read is null, and a warning says why. */
export type Measured<Figures> = DependencyStatus & { figures: Figures | null; warnings: string[] };

export function down<Figures>(name: DependencyStatus['name'], reason: string): Measured<Figures> {
  return { name, state: 'down', reason, figures: null, warnings: [] };
}

/** Reads one figure within the timeout. A failure is a warning, not an outage. */
export async function figure<T>(warnings: string[], what: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await withTimeout(read(), timeoutMs, `no answer within ${timeoutMs} ms`);
  } catch (error) {
    warnings.push(`${what} could not be read: ${reasonOf(error)}`);
    return null;
  }
}

/** Adds the sentence of a check, where there is one. A check that fails says nothing about the set-up. */
export async function warnIf(warnings: string[], check: () => Promise<string | undefined>): Promise<void> {
  const warning = await withTimeout(check(), timeoutMs, 'late').catch(() => undefined);
  if (warning !== undefined) warnings.push(warning);
}

/** The message of an error; Node reports a refused connection to several addresses without a message of its own. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return 'code' in error ? String(error.code) : error.name;
}

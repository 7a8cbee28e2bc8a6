import { drainSpill, type DrainSpillDeps } from '@hqrelay/audit/drain-spill';

/** Writes the audit rows that Postgres could not take. Returns how many messages of them it took. */
export async function drainSpilledAudit(deps: DrainSpillDeps, stopping?: AbortSignal): Promise<number> {
  if (!deps.postgres.health.isUp || !deps.connection.health.isUp) return 0;
  return drainSpill(deps, stopping);
}

import type { Postgres } from '@hqrelay/db/postgres';
import { countBrokenChannels } from '@hqrelay/db/queries/alert-rules';
import { listSilentProjects } from '@hqrelay/db/queries/silent-projects';
import type { MeasureBacklogDeps } from './measure-backlog.ts';

/** Sets the gauges of silent projects, with and without a rule, and of alert channels that are broken. Returns 1 when it could. */
export async function measureAlerts({
  postgres,
  gauges,
  now,
}: {
  postgres: Postgres;
  gauges: Pick<MeasureBacklogDeps['gauges'], 'silentProjects' | 'alertChannelsBroken'>;
  now: () => number;
}): Promise<number> {
  if (!postgres.health.isUp) return 0;
  gauges.alertChannelsBroken.set(await countBrokenChannels(postgres.pool));
  gauges.silentProjects.set((await listSilentProjects(postgres.pool, now())).length);
  return 1;
}

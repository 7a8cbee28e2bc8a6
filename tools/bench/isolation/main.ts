// `npm run bench -- --isolation` measures the effect of one endpoint, a storm or a resume on the webhooks of other endpoints.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { bulkReplay } from './bulk-replay.ts';
import { deadEndpoint } from './dead-endpoint.ts';
import { deadNames } from './dead-names.ts';
import { lateRetries } from './late-retries.ts';
import { oneHangs } from './one-hangs.ts';
import { resume } from './resume.ts';
import { retryStorm } from './retry-storm.ts';
import type { Line, Scenario } from './scenario.ts';

const scenarios: Readonly<Record<string, Scenario>> = {
  'one-hangs': oneHangs,
  'dead-names': deadNames,
  'late-retries': lateRetries,
  'retry-storm': retryStorm,
  'bulk-replay': bulkReplay,
  resume,
  'dead-endpoint': deadEndpoint,
};

/** Runs the named scenarios, or all. */
export async function measureIsolation(
  services: DurableServices,
  { only, quick, say }: { only: readonly string[]; quick: boolean; say: (line: string) => void },
): Promise<Line[]> {
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const lines: Line[] = [];
  for (const [key, scenario] of Object.entries(scenarios)) {
    if (only.length > 0 && !only.includes(key)) continue;
    say(`\n${key}: ${scenario.name}`);
    const measured = await scenario.run({ services, apps, quick, say: (line) => say(`  ${line}`) });
    for (const { figure, value, bound, holds } of measured)
      say(`  ${holds ? 'holds' : 'DOES NOT HOLD'}: ${figure}: ${value} (${bound})`);
    lines.push(...measured);
  }
  return lines;
}

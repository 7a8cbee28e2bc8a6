import { waitFor } from '@hqrelay/testing/wait-for';
import type { Stage } from '../row.ts';
import type { Site } from '../site.ts';

/** Waits until the workers agree that an endpoint fails, and hold its deliveries. Throws when they do not in time. */
export async function untilOpen({ world }: Site, stage: Stage, timeoutMs: number): Promise<void> {
  const isOpen = async () => {
    const { rows } = await world.sql.query(
      `select 1 from endpoint_breakers b where state <> 'closed'
       and exists (select 1 from held_deliveries where endpoint_id = b.endpoint_id and reason = 'breaker')`,
    );
    return rows.length > 0;
  };
  if (stage.brief) return;
  await waitFor('the breaker to open', isOpen, { timeoutMs, everyMs: 100 });
}

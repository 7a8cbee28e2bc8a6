import type { Row } from '../row.ts';
import { untilOpen } from './until-open.ts';

/** A longer outage than the schedule lasts: the breaker opens, deliveries are held, and none becomes a dead letter. */
export const endpointDownLong: Row = {
  name: 'endpoint-down-long',
  fault: 'an endpoint stops listening for 25 s, longer than its schedule of 15 s: its breaker opens',
  duplicatesBecause: 'an endpoint may have processed a delivery before its connection was cut',
  hit: ({ cut }) => (cut > 0 ? `${cut} deliveries were cut` : undefined),
  withinMs: 90_000,
  run: async (site, stage) => {
    const alone = site.endpoint('alone');
    await stage.fault(
      'an endpoint is shut',
      async () => {
        await alone.shut();
        await untilOpen(site, stage, 20_000);
        await stage.wait(10_000);
        await alone.open();
      },
      { inFlight: () => alone.inFlight() > 0 },
    );
  },
};

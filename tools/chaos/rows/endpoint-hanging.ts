import type { Row } from '../row.ts';
import { untilOpen } from './until-open.ts';

/** The endpoint accepts requests and never answers: each costs its whole timeout, until the breaker opens. */
export const endpointHanging: Row = {
  name: 'endpoint-hanging',
  fault: 'an endpoint accepts requests and does not answer, for 25 s',
  duplicatesBecause: 'a request that was not answered may have done its work',
  hit: ({ cut }) => (cut > 0 ? `${cut} deliveries timed out` : undefined),
  withinMs: 100_000,
  run: async (site, stage) => {
    const alone = site.endpoint('alone');
    await stage.fault(
      'an endpoint hangs',
      async () => {
        alone.hang(true);
        await untilOpen(site, stage, 25_000);
        await stage.wait(10_000);
        alone.hang(false);
      },
      { inFlight: () => alone.inFlight() > 0 },
    );
  },
};

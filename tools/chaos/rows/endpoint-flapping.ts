import type { Row } from '../row.ts';

/** The endpoint is neither down nor up for long. */
export const endpointFlapping: Row = {
  name: 'endpoint-flapping',
  fault: 'an endpoint is up for 2 s and down for 3 s, six times',
  duplicatesBecause: 'an endpoint may have processed a delivery before its connection was cut',
  hit: ({ cut }) => (cut > 0 ? `${cut} deliveries were cut` : undefined),
  withinMs: 90_000,
  run: async ({ endpoint }, stage) => {
    const alone = endpoint('alone');
    for (let times = 0; times < 6; times += 1) {
      await stage.fault(
        'an endpoint is shut',
        async () => {
          await alone.shut();
          await stage.wait(3_000);
          await alone.open();
        },
        { inFlight: () => alone.inFlight() > 0 },
      );
      await stage.wait(2_000);
    }
  },
};

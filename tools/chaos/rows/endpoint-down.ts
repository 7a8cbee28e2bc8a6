import type { Row } from '../row.ts';

/** One customer's outage: its deliveries are tried again on their schedule, and other customers' deliveries do not wait. */
export const endpointDown: Row = {
  name: 'endpoint-down',
  fault: 'two endpoints, one of them beside another of its project, stop listening for 4 s',
  duplicatesBecause: 'an endpoint may have processed a delivery before its connection was cut',
  hit: ({ cut }) => (cut > 0 ? `${cut} deliveries were cut` : undefined),
  run: async ({ endpoint }, stage) => {
    const alone = endpoint('alone');
    const beside = endpoint('plain');
    await stage.fault(
      'two endpoints are shut',
      async () => {
        await Promise.all([alone.shut(), beside.shut()]);
        await stage.wait(4_000);
        await Promise.all([alone.open(), beside.open()]);
      },
      { inFlight: () => alone.inFlight() > 0 && beside.inFlight() > 0 },
    );
  },
};

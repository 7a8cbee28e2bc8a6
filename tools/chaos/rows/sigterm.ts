import { hitRequests, type Row } from '../row.ts';

/** A deploy: the processes finish the requests and deliveries in flight, and no connection is reset. */
export const sigterm: Row = {
  name: 'sigterm',
  fault: 'receiver 1 and worker 1 get SIGTERM and started again, then receiver 2 and worker 2',
  // A process that has just started compiles its code.
  p99MsMax: 500,
  hit: hitRequests,
  check: ({ reset, cut }) => [
    ...(reset > 0 ? [`${reset} requests were reset`] : []),
    ...(cut > 0 ? [`${cut} deliveries were cut`] : []),
  ],
  run: async ({ receivers, workers }, stage) => {
    for (const [index, receiver] of receivers.entries()) {
      const worker = workers[index];
      await stage.fault(
        `${receiver.name} and ${worker?.name} get SIGTERM`,
        async () => {
          await Promise.all([receiver.end(), worker?.end()]);
          receiver.start();
          worker?.start();
          await Promise.all([receiver.waitUntilReady(), worker?.waitUntilReady()]);
        },
        { inFlight: () => stage.load.inFlight(receiver.port) > 1 },
      );
      await stage.wait(1_000);
    }
  },
};

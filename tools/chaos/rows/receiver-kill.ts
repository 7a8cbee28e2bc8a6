import type { Row } from '../row.ts';

/** Connections are reset, the providers send again, and the stores have every webhook that was answered 202. */
export const receiverKill: Row = {
  name: 'receiver-kill',
  fault: 'each receiver in turn is killed (`kill -9`), twice, and started again',
  mayRefuse: true,
  // A provider that sends again soon waits 1.2 s for the outcome of its first request, which died, and then gets 503.
  p99MsMax: 1_500,
  hit: ({ reset }) => (reset > 0 ? `${reset} requests were reset` : undefined),
  run: async ({ receivers }, stage) => {
    for (const receiver of [...receivers, ...receivers]) {
      await stage.fault(
        `${receiver.name} is killed`,
        async () => {
          await receiver.end('SIGKILL');
          await stage.wait(400);
          receiver.start();
          await receiver.waitUntilReady();
        },
        { inFlight: () => stage.load.inFlight(receiver.port) > 1 },
      );
      await stage.wait(1_000);
    }
  },
};

import type { Fleet } from '../../harness/fleet.ts';
import { hitRequests, type Row } from '../row.ts';

const besideMs = 5_000;

/** A rolling upgrade: the previous version serves while the tables change, then beside this one, then it ends. */
export const oldBesideNew: Row = {
  name: 'old-beside-new',
  fault:
    '`migrate` of this version runs while the previous one serves; receivers and workers of this version start beside the old ones, which get SIGTERM 5 s later',
  startsPrevious: true,
  perSecond: 100,
  // Four more processes start, and compile their code.
  p99MsMax: 1_000,
  withinMs: 90_000,
  hit: (evidence) => (evidence.faults.length === 3 ? hitRequests(evidence) : undefined),
  check: ({ reset, refused, cut }) => [
    ...(reset + refused > 0 ? [`${reset} requests were reset and ${refused} refused`] : []),
    ...(cut > 0 ? [`${cut} deliveries were cut`] : []),
  ],
  run: async (site, stage) => {
    const { load } = stage;
    await stage.fault('`migrate` runs', () => site.migrate());
    await stage.wait(1_000);
    let receivers: Fleet['receivers'] = [];
    await stage.fault('apps of this version start beside the old ones', async () => {
      ({ receivers } = await site.startBeside());
      load.useReceivers([...site.receivers, ...receivers]);
      await stage.wait(besideMs);
    });
    await stage.fault('the old apps get SIGTERM', async () => {
      // As a balancer does before a deploy.
      load.useReceivers(receivers);
      await Promise.all([...site.receivers, ...site.workers].map((app) => app.end()));
    });
  },
};

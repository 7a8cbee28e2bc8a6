import type { Figure } from '../summary.ts';

/** Webhooks a second that the tables are computed for. */
const rates = [1_000, 5_000, 20_000];
const processes = ['receiver', 'worker', 'RabbitMQ', 'Redis', 'Postgres'] as const;
type Process = (typeof processes)[number];
/** The share of a core that is planned to be used; the rest is for peaks, collections and the system. */
const plannedUse = 0.6;
const coresPerMachine = 8;
/** The spike of the third table. */
const spike = { normalPerSecond: 200, perSecond: 20_000, seconds: 60 };
/** What takes more of the load than one full core. */
const more: Record<Process, string> = {
  receiver: 'another receiver',
  worker: 'another worker',
  RabbitMQ: 'more cores; one for the leader of a queue',
  Redis: 'another deployment',
  Postgres: 'more cores',
};

/** CPU for one webhook, µs. */
export type Costs = {
  /** Of each process, for a webhook that is accepted and delivered. */
  both: Record<Process, number>;
  /** Of all processes, for each half of that alone. */
  accepting: number;
  draining: number;
};

/** Throws for results without these figures. */
export function costsOf(figures: readonly Figure[]): Costs {
  const cost = (name: string) => {
    const figure = figures.find((each) => each.name === `${name} µs`);
    if (!figure) throw new Error(`The results have no cost of ${name}`);
    return figure.product.median;
  };
  const both = Object.fromEntries(processes.map((process) => [process, cost(`both, ${process}`)]));
  return {
    both: both as Record<Process, number>,
    accepting: cost('accepting, all'),
    draining: cost('draining, all'),
  };
}

const cores = (us: number, perSecond: number) => (us * perSecond) / 1_000_000 / plannedUse;

/** Cores of each process for each rate, the receivers and workers, and the machines of eight cores. */
export function coreCells({ both }: Costs): string[][] {
  const all = Object.values(both).reduce((sum, cost) => sum + cost, 0);
  const line = (name: string, us: number) => [
    name,
    us.toFixed(0),
    ...rates.map((rate) => cores(us, rate).toFixed(1)),
  ];
  const whole = (us: number, rate: number) => String(Math.ceil(cores(us, rate)));
  return [
    ['cores', 'µs for a webhook', ...rates.map((rate) => `${rate.toLocaleString('en')}/s`)],
    ...processes.map((process) => line(process, both[process])),
    line('all', all),
    ['processes: receivers', '', ...rates.map((rate) => whole(both.receiver, rate))],
    ['processes: workers', '', ...rates.map((rate) => whole(both.worker, rate))],
    [
      `machines of ${coresPerMachine} cores`,
      '',
      ...rates.map((rate) => String(Math.ceil(cores(all, rate) / coresPerMachine))),
    ],
  ];
}

/** The rate at which one core of each process is full, the lowest first, and what takes more than that. */
export function coreLimitCells({ both }: Costs): string[][] {
  const lines = processes
    .map((process) => ({ process, perSecond: 1_000_000 / both[process] }))
    .toSorted((a, b) => a.perSecond - b.perSecond)
    .map(({ process, perSecond }) => [process, String(Math.round(perSecond)), more[process]]);
  return [['process', 'webhooks a second on one full core', 'for more'], ...lines];
}

/** The backlog and the time to drain it, by how many deliveries a second the workers and the endpoints take. */
export function spikeCells({ both, accepting, draining }: Costs): string[][] {
  const { normalPerSecond, perSecond, seconds } = spike;
  const lines = [1_000, 5_000, 10_000].map((delivered) => {
    const backlog = (perSecond - delivered) * seconds;
    const drainMinutes = backlog / (delivered - normalPerSecond) / 60;
    return [
      `${delivered.toLocaleString('en')}/s`,
      String(Math.ceil(cores(both.worker, delivered))),
      (cores(accepting, perSecond) + cores(draining, delivered)).toFixed(0),
      backlog.toLocaleString('en'),
      `${((backlog * 1.5) / 1_048_576).toFixed(1)} GiB`,
      `${drainMinutes.toFixed(0)} min`,
    ];
  });
  return [
    ['delivered', 'workers', 'cores of all', 'backlog at its end', 'of 1.5 KiB each', 'drained after'],
    ...lines,
  ];
}

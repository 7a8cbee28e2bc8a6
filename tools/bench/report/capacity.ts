import type { Figure } from '../summary.ts';

/** Webhooks a second that the tables are computed for. */
const rates = [1_000, 5_000, 20_000];
const processes = ['receiver', 'worker', 'RabbitMQ', 'Redis', 'Postgres'] as const;
/** The share of a core that is planned to be used; the rest is for peaks, collections and the system. */
export const plannedUse = 0.6;
const coresPerMachine = 8;
/** The spike of the second table. */
const spike = { normalPerSecond: 200, perSecond: 20_000, seconds: 60 };

type Costs = Record<(typeof processes)[number], number>;

/** CPU of each process for one webhook that is accepted and delivered, µs. Throws for results without these figures. */
export function costsOf(figures: readonly Figure[]): Costs {
  const cost = (process: string) => {
    const figure = figures.find(({ name }) => name === `both, ${process} µs`);
    if (!figure) throw new Error(`The results have no cost of ${process}`);
    return figure.product.median;
  };
  return Object.fromEntries(processes.map((process) => [process, cost(process)])) as Costs;
}

/** Cores of each process for each rate, and the machines of eight cores. */
export function coreCells(costs: Costs): string[][] {
  const cores = (us: number, perSecond: number) => (us * perSecond) / 1_000_000 / plannedUse;
  const all = Object.values(costs).reduce((sum, cost) => sum + cost, 0);
  const line = (name: string, us: number) => [
    name,
    us.toFixed(0),
    ...rates.map((rate) => cores(us, rate).toFixed(1)),
  ];
  return [
    ['cores', 'µs for a webhook', ...rates.map((rate) => `${rate.toLocaleString('en')}/s`)],
    ...processes.map((process) => line(process, costs[process])),
    line('all', all),
    [
      `machines of ${coresPerMachine} cores`,
      '',
      ...rates.map((rate) => String(Math.ceil(cores(all, rate) / coresPerMachine))),
    ],
  ];
}

/** The rate at which one core of each process is full: more of it needs another process, and another shard for Redis. */
export function coreLimitCells(costs: Costs): string[][] {
  const lines = processes
    .map((process) => ({ process, perSecond: 1_000_000 / costs[process] }))
    .toSorted((a, b) => a.perSecond - b.perSecond)
    .map(({ process, perSecond }) => [process, String(Math.round(perSecond))]);
  return [['process', 'webhooks a second on one full core'], ...lines];
}

/** The backlog and the time to drain it, by how many deliveries a second the workers and the endpoints take. */
export function spikeCells(): string[][] {
  const { normalPerSecond, perSecond, seconds } = spike;
  const lines = [1_000, 5_000, 10_000].map((delivered) => {
    const backlog = (perSecond - delivered) * seconds;
    const drainMinutes = backlog / (delivered - normalPerSecond) / 60;
    return [
      `${delivered.toLocaleString('en')}/s`,
      backlog.toLocaleString('en'),
      `${((backlog * 1.5) / 1_048_576).toFixed(1)} GiB`,
      `${drainMinutes.toFixed(0)} min`,
    ];
  });
  return [['delivered', 'backlog at the end of the spike', 'of 1.5 KiB each', 'drained after'], ...lines];
}

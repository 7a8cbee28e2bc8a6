import type { RateLine } from '../rates/site.ts';
import type { Measured } from '../round.ts';
import { spreadOf, type Spread } from '../summary.ts';

export type FlatRound = { empty: Measured; full: Measured };

export type FullState = {
  webhooks: number;
  projects: number;
  endpointsEach: number;
  waiting: number;
  waitingAtEnd: number;
};

const ratioMin = 0.9;
const memoryMibMax = { receiver: 200, worker: 300 };
/** Shown beside the rates, to find what a loss comes from. */
export const costs = [
  'answer p99 ms',
  'accepting, receiver µs',
  'accepting, RabbitMQ µs',
  'accepting, Postgres µs',
  'draining, worker µs',
  'draining, RabbitMQ µs',
  'draining, Postgres µs',
];

/** The full system beside the empty one. Each ratio is of one round. */
export function flatLines(rounds: readonly FlatRound[], state: FullState): RateLine[] {
  return [
    ...stateLines(state),
    ...['accepted/s', 'drained/s'].map((figure) => ratioLine(rounds, figure, ratioMin)),
    ...costs.map((figure) => ratioLine(rounds, figure)),
    memoryLine(rounds, 'receiver'),
    memoryLine(rounds, 'worker'),
  ];
}

function stateLines({ webhooks, projects, endpointsEach, waiting, waitingAtEnd }: FullState): RateLine[] {
  const text = (value: number) => value.toLocaleString('en');
  return [
    { figure: 'rows in each audit table', value: text(webhooks), bound: '', holds: true },
    {
      figure: 'projects, endpoints',
      value: `${text(projects)}, ${text(projects * endpointsEach)}`,
      bound: '',
      holds: true,
    },
    {
      figure: 'waiting in the queue, at the end',
      value: text(waitingAtEnd),
      bound: `≥ ${text(waiting * 0.9)}`,
      holds: waitingAtEnd >= waiting * 0.9,
    },
  ];
}

/** Full to empty, by the median of the rounds. */
function ratioLine(rounds: readonly FlatRound[], figure: string, min?: number): RateLine {
  const of = (system: keyof FlatRound) => spreadOf(rounds.map((round) => round[system][figure])) as Spread;
  const ratio = spreadOf(
    rounds.map(({ full, empty }) => (full[figure] ?? 0) / (empty[figure] ?? 0)),
  ) as Spread;
  const range = `${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)}`;
  return {
    figure: `${figure}, full / empty`,
    value: `${of('full').median.toFixed(0)} / ${of('empty').median.toFixed(0)} = ${ratio.median.toFixed(2)} (${range})`,
    bound: min === undefined ? '' : `≥ ${min}`,
    holds: min === undefined || ratio.median >= min,
  };
}

/** The most that any process of the full system held. */
function memoryLine(rounds: readonly FlatRound[], app: 'receiver' | 'worker'): RateLine {
  const peak = Math.max(...rounds.map(({ full }) => full[`${app}, peak MiB`] ?? Number.POSITIVE_INFINITY));
  const max = memoryMibMax[app];
  return {
    figure: `${app}, full, peak`,
    value: `${Math.round(peak)} MiB`,
    bound: `≤ ${max} MiB`,
    holds: peak <= max,
  };
}

import type { RateLine } from '../rates/site.ts';
import { spreadOf, textOf, type Spread } from '../summary.ts';

/** What a number of receivers and workers did together; the lists have a number for each of them. */
export type FleetFigures = {
  /** At which the costs were measured. */
  perSecond: number;
  accepted: readonly number[];
  delivered: readonly number[];
  /** CPU for one webhook by process, µs. */
  costs: Readonly<Record<string, number>>;
};

export type PairsRound = { one: FleetFigures; two: FleetFigures };

const share = { min: 0.4, max: 0.6 };
/** Each pair has the same rate. Beyond this, more pairs would need more than their share of the machine. */
const costRatioMax = 1.2;

/** How evenly two pairs share the load of all rounds, and their cost for a webhook relative to that of one pair. */
export function pairLines(rounds: readonly PairsRound[], perSecondEach: number): RateLine[] {
  return [
    rateLine(
      'sent a second, one pair',
      rounds.map(({ one }) => one.perSecond),
      perSecondEach,
    ),
    rateLine(
      'sent a second, two pairs',
      rounds.map(({ two }) => two.perSecond),
      perSecondEach * 2,
    ),
    shareLine('accepted by each receiver', totals(rounds, 'accepted')),
    shareLine('delivered by each worker', totals(rounds, 'delivered')),
    costLine(rounds, 'receiver', costRatioMax),
    costLine(rounds, 'worker', costRatioMax),
    ...['RabbitMQ', 'Redis', 'Postgres'].map((process) => costLine(rounds, process)),
    costLine(rounds, 'all', costRatioMax),
  ];
}

/** Costs at another rate than the one that was asked for would be those of other batches. */
function rateLine(figure: string, measured: readonly number[], asked: number): RateLine {
  const spread = spreadOf(measured) as Spread;
  return {
    figure,
    value: textOf(spread),
    bound: `${asked}`,
    holds: spread.lowest >= asked * 0.95,
  };
}

function totals(rounds: readonly PairsRound[], figure: 'accepted' | 'delivered'): number[] {
  const processes = rounds[0]?.two[figure].length ?? 0;
  return Array.from({ length: processes }, (_, index) =>
    rounds.reduce((sum, { two }) => sum + (two[figure][index] ?? 0), 0),
  );
}

function shareLine(figure: string, counts: readonly number[]): RateLine {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map((count) => count / all);
  return {
    figure,
    value: shares.map((each) => `${(each * 100).toFixed(0)} %`).join(', '),
    bound: `${share.min * 100} to ${share.max * 100} %`,
    holds: shares.length > 0 && shares.every((each) => each >= share.min && each <= share.max),
  };
}

/** The µs of all processes of a kind, two pairs to one pair, by the median of the rounds. */
function costLine(rounds: readonly PairsRound[], process: string, max?: number): RateLine {
  const of = ({ costs }: FleetFigures) =>
    Object.entries(costs).reduce((sum, [name, cost]) => (name.startsWith(process) ? sum + cost : sum), 0);
  const median = (values: readonly number[]) => (spreadOf(values) as Spread).median;
  const ratio = median(rounds.map(({ one, two }) => of(two) / of(one)));
  const [one, two] = [
    median(rounds.map((round) => of(round.one))),
    median(rounds.map((round) => of(round.two))),
  ];
  return {
    figure: `${process}, µs for a webhook, two pairs / one`,
    value: `${two.toFixed(0)} / ${one.toFixed(0)} = ${ratio.toFixed(2)}`,
    bound: max === undefined ? '' : `≤ ${max}`,
    holds: max === undefined || ratio <= max,
  };
}

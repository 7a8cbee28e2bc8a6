import type { PipelineName } from './pipelines.ts';
import type { Measured } from './round.ts';

export type Spread = { median: number; lowest: number; highest: number };

/** One figure of both pipelines over all rounds; the ratio is of the medians, product to bare. */
export type Figure = { name: string; product: Spread; bare: Spread | null; ratio: number | null };

export type Rounds = readonly Record<PipelineName, Measured>[];

/** In the order they were measured. A figure that the bare pipeline does not have stands alone. */
export function summarize(rounds: Rounds): Figure[] {
  return Object.keys(rounds[0]?.product ?? {}).map((name) => {
    const of = (pipeline: PipelineName) => spreadOf(rounds.map((round) => round[pipeline][name]));
    const product = of('product') as Spread;
    const bare = of('bare');
    return { name, product, bare, ratio: bare && bare.median > 0 ? product.median / bare.median : null };
  });
}

/** Null where no round has the figure. */
export function spreadOf(measured: readonly (number | undefined)[]): Spread | null {
  const values = measured.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  if (values.length === 0) return null;
  const middle = values.length >> 1;
  const median =
    values.length % 2 === 1
      ? (values[middle] as number)
      : ((values[middle - 1] as number) + (values[middle] as number)) / 2;
  return { median, lowest: values[0] as number, highest: values.at(-1) as number };
}

/** Lines of cells: figure, product, bare, ratio. */
export function cellsOf(figures: readonly Figure[]): string[][] {
  return [
    ['figure', 'product', 'bare', 'product / bare'],
    ...figures.map(({ name, product, bare, ratio }) => [
      name,
      textOf(product),
      bare ? textOf(bare) : '',
      ratio === null ? '' : ratio.toFixed(2),
    ]),
  ];
}

export function textOf({ median, lowest, highest }: Spread): string {
  return `${rounded(median)} (${rounded(lowest)}–${rounded(highest)})`;
}

function rounded(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

import type { ReactNode } from 'react';
import { formatCount } from '../../display/number-format.ts';
import { ChartFrame } from './chart-frame.tsx';
import { FiguresTable } from './figures-table.tsx';

export type Series = { name: string; colour: string; values: readonly number[] };

/** The rows that a figure counts: those of a step, or those of one series in a step. */
export type Rows = { step: number; series: number | null };

/** Wraps a figure as a link to its rows. Bars have no place in the order of Tab; the table has a link for each of them. */
export type RenderLink = (rows: Rows, figure: ReactNode, place: 'bar' | 'table') => ReactNode;

type Props = {
  title: string;
  /** The start of each step, as text. */
  steps: readonly string[];
  series: readonly Series[];
  renderLink: RenderLink;
};

const width = 10;
const height = 100;

/** Stacked bars, one for each step. */
export function BarChart({ title, steps, series, renderLink }: Props) {
  const totals = steps.map((_, step) => series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0));
  const highest = Math.max(1, ...totals);
  const shown = series.filter(({ values }) => values.some((value) => value > 0));
  const columns = series.map(({ name, values }, at) => ({
    name,
    cells: steps.map((_, step) => {
      const value = values[step] ?? 0;
      return value === 0 ? '0' : renderLink({ step, series: at }, formatCount(value), 'table');
    }),
  }));
  return (
    <ChartFrame
      items={shown.length > 0 ? shown : series.slice(0, 1)}
      highest={formatCount(highest)}
      steps={steps}
      width={steps.length * width}
      table={<FiguresTable title={title} steps={steps} columns={columns} />}
    >
      {steps.map((label, step) => (
        <g key={step}>
          <title>{titleOf(label, step, shown)}</title>
          {renderLink({ step, series: null }, <Background step={step} />, 'bar')}
          {partsOf(series, step, highest).map(({ at, colour, y, size }) => (
            <g key={at}>
              {renderLink(
                { step, series: at },
                <rect x={step * width + 1} y={y} width={width - 2} height={size} className={colour} />,
                'bar',
              )}
            </g>
          ))}
        </g>
      ))}
    </ChartFrame>
  );
}

function Background({ step }: { step: number }) {
  return (
    <rect
      x={step * width}
      y={0}
      width={width}
      height={height}
      className="fill-transparent hover:fill-raised"
    />
  );
}

/** The parts of a bar, from the bottom up; a series without a value has none. */
function partsOf(series: readonly Series[], step: number, highest: number) {
  let below = 0;
  return series.flatMap(({ colour, values }, at) => {
    const size = ((values[step] ?? 0) / highest) * height;
    below += size;
    return size === 0 ? [] : [{ at, colour, y: height - below, size }];
  });
}

function titleOf(label: string, step: number, series: readonly Series[]): string {
  return `${label}: ${series.map(({ name, values }) => `${formatCount(values[step] ?? 0)} ${name}`).join(', ')}`;
}

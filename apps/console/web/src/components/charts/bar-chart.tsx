import type { ReactNode } from 'react';
import { formatCount } from '../../display/number-format.ts';

export type Series = { name: string; colour: string; values: readonly number[] };

type Props = {
  title: string;
  /** The start of each step, as text. */
  steps: readonly string[];
  series: readonly Series[];
  /** Wraps the bar of a step, as a link to its rows. */
  renderBar?: (step: number, bar: ReactNode) => ReactNode;
};

const width = 10;
const height = 100;

/** Stacked bars, one a step, with a legend and the same figures as a table. */
export function BarChart({ title, steps, series, renderBar = (_, bar) => bar }: Props) {
  const totals = steps.map((_, step) => series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0));
  const highest = Math.max(1, ...totals);
  const shown = series.filter(({ values }) => values.some((value) => value > 0));
  return (
    <figure className="m-0">
      <Legend series={shown.length > 0 ? shown : series.slice(0, 1)} />
      <div className="flex gap-2">
        <div className="flex w-10 shrink-0 flex-col justify-between text-right text-xs text-muted tabular-nums">
          <span>{formatCount(highest)}</span>
          <span>0</span>
        </div>
        <svg
          // The table has the figures.
          aria-hidden
          viewBox={`0 0 ${steps.length * width} ${height}`}
          preserveAspectRatio="none"
          className="h-36 w-full border-b border-line"
        >
          {steps.map((label, step) => (
            <g key={label}>
              {renderBar(
                step,
                <Bar {...{ step, highest, label, series: shown, total: totals[step] ?? 0 }} />,
              )}
            </g>
          ))}
        </svg>
      </div>
      <div className="ml-12 flex justify-between text-xs text-muted">
        <span>{steps[0]}</span>
        <span>{steps.at(-1)}</span>
      </div>
      <Figures title={title} steps={steps} series={series} />
    </figure>
  );
}

type BarProps = { step: number; highest: number; label: string; series: readonly Series[]; total: number };

function Bar({ step, highest, label, series, total }: BarProps) {
  let below = 0;
  return (
    <>
      <title>{`${label}: ${series.map(({ name, values }) => `${formatCount(values[step] ?? 0)} ${name}`).join(', ')}`}</title>
      <rect
        x={step * width}
        y={0}
        width={width}
        height={height}
        className="fill-transparent hover:fill-raised"
      />
      {total > 0 &&
        series.map(({ name, colour, values }) => {
          const size = ((values[step] ?? 0) / highest) * height;
          below += size;
          return (
            <rect
              key={name}
              x={step * width + 1}
              y={height - below}
              width={width - 2}
              height={size}
              className={`pointer-events-none ${colour}`}
            />
          );
        })}
    </>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <figcaption className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {series.map(({ name, colour }) => (
        <span key={name} className="flex min-w-0 items-center gap-1.5">
          <svg aria-hidden viewBox="0 0 10 10" className="size-2.5 shrink-0">
            <rect width="10" height="10" rx="2" className={colour} />
          </svg>
          <span className="truncate">{name}</span>
        </span>
      ))}
    </figcaption>
  );
}

function Figures({ title, steps, series }: Omit<Props, 'renderBar'>) {
  return (
    <details className="mt-2">
      <summary className="w-fit text-xs text-muted hover:text-ink">As a table</summary>
      <div
        className="mt-2 max-h-64 overflow-auto"
        role="region"
        aria-label={`${title}, as a table`}
        tabIndex={0}
      >
        <table className="w-full border-collapse text-xs tabular-nums">
          <thead>
            <tr className="text-left text-muted">
              <th className="py-1 pr-3 font-medium">From</th>
              {series.map(({ name }) => (
                <th key={name} className="py-1 pr-3 font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((label, step) => (
              <tr key={label} className="border-t border-line">
                <th className="py-1 pr-3 text-left font-normal whitespace-nowrap">{label}</th>
                {series.map(({ name, values }) => (
                  <td key={name} className="py-1 pr-3">
                    {formatCount(values[step] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

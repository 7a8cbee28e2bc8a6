import type { ReactNode } from 'react';
import { Legend, type LegendItem } from './legend.tsx';

type Props = {
  items: readonly LegendItem[];
  /** The value at the top of the scale, as text. */
  highest: string;
  steps: readonly string[];
  /** The width of the drawing in its own units; its height is 100. */
  width: number;
  children: ReactNode;
  table: ReactNode;
};

/** The parts that every chart has: a legend, a scale from 0, the first and the last step, and its figures as a table. */
export function ChartFrame({ items, highest, steps, width, children, table }: Props) {
  return (
    <figure className="m-0">
      <Legend items={items} />
      <div className="flex gap-2">
        <div className="flex w-14 shrink-0 flex-col justify-between text-right text-xs whitespace-nowrap text-muted tabular-nums">
          <span>{highest}</span>
          <span>0</span>
        </div>
        <svg
          // The table has the figures.
          aria-hidden
          viewBox={`0 0 ${Math.max(width, 1)} 100`}
          preserveAspectRatio="none"
          className="h-36 w-full border-b border-line"
        >
          {children}
        </svg>
      </div>
      <div className="ml-16 flex justify-between text-xs text-muted">
        <span>{steps[0]}</span>
        <span>{steps.at(-1)}</span>
      </div>
      {table}
    </figure>
  );
}

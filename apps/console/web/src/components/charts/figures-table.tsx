import type { ReactNode } from 'react';

type Props = {
  title: string;
  /** The start of each step, as text. */
  steps: readonly string[];
  columns: readonly { name: string; cells: readonly ReactNode[] }[];
};

/** The figures of a chart, for screen readers and the keyboard. */
export function FiguresTable({ title, steps, columns }: Props) {
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
              {columns.map(({ name }) => (
                <th key={name} className="max-w-48 truncate py-1 pr-3 font-medium" title={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{steps.map((label, step) => row(label, step, columns))}</tbody>
        </table>
      </div>
    </details>
  );
}

/** The key is the place: two steps have the same label where a clock is set back. */
function row(label: string, step: number, columns: Props['columns']) {
  return (
    <tr key={step} className="border-t border-line">
      <th className="py-1 pr-3 text-left font-normal whitespace-nowrap">{label}</th>
      {columns.map(({ name, cells }) => (
        <td key={name} className="py-1 pr-3">
          {cells[step]}
        </td>
      ))}
    </tr>
  );
}

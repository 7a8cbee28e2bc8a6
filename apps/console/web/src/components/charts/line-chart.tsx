import { formatDuration } from '../../display/time-format.ts';

type Line = { name: string; stroke: string; values: readonly (number | null)[] };
type Props = { title: string; steps: readonly string[]; lines: readonly Line[] };

const height = 100;

/** Durations over time. A step without a figure is a gap, never 0. */
export function LineChart({ title, steps, lines }: Props) {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const highest = Math.max(1, ...known);
  if (known.length === 0) return <p className="m-0 text-muted">Nothing was delivered in this period.</p>;
  return (
    <figure className="m-0">
      <figcaption className="mb-2 flex gap-4 text-xs text-muted">
        {lines.map(({ name, stroke }) => (
          <span key={name} className="flex items-center gap-1.5">
            <svg aria-hidden viewBox="0 0 10 10" className="size-2.5">
              <path d="M0 5h10" strokeWidth="3" className={stroke} />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
      <div className="flex gap-2">
        <div className="flex w-14 shrink-0 flex-col justify-between text-right text-xs whitespace-nowrap text-muted">
          <span>{formatDuration(highest)}</span>
          <span>0</span>
        </div>
        <svg
          // The table has the figures.
          aria-hidden
          viewBox={`0 0 ${Math.max(steps.length, 1)} ${height}`}
          preserveAspectRatio="none"
          className="h-36 w-full border-b border-line"
        >
          {lines.map(({ name, stroke, values }) => (
            <path
              key={name}
              d={pathOf(values, highest)}
              fill="none"
              strokeWidth="2"
              strokeLinecap="round"
              vectorEffect="non-scaling-stroke"
              className={stroke}
            />
          ))}
        </svg>
      </div>
      <div className="ml-16 flex justify-between text-xs text-muted">
        <span>{steps[0]}</span>
        <span>{steps.at(-1)}</span>
      </div>
      <Figures title={title} steps={steps} lines={lines} />
    </figure>
  );
}

/** A step between two gaps is a short line, which would not be seen as a point. */
function pathOf(values: readonly (number | null)[], highest: number): string {
  return values
    .map((value, step) => {
      if (value === null) return '';
      const y = height - (value / highest) * (height - 4) - 2;
      const follows = values[step - 1] !== null && step > 0;
      return follows ? `L${step + 0.5} ${y}` : `M${step + 0.3} ${y}L${step + 0.5} ${y}`;
    })
    .join('');
}

function Figures({ title, steps, lines }: Props) {
  return (
    <details className="mt-2">
      <summary className="w-fit text-xs text-muted hover:text-ink">As a table</summary>
      <div
        className="mt-2 max-h-64 overflow-auto"
        role="region"
        aria-label={`${title}, as a table`}
        tabIndex={0}
      >
        <table className="w-full border-collapse text-xs">
          <thead>
            <tr className="text-left text-muted">
              <th className="py-1 font-medium">From</th>
              {lines.map(({ name }) => (
                <th key={name} className="py-1 font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((label, step) => (
              <tr key={label} className="border-t border-line">
                <th className="py-1 text-left font-normal">{label}</th>
                {lines.map(({ name, values }) => (
                  <td key={name} className="py-1">
                    {typeof values[step] === 'number' ? formatDuration(values[step]) : '–'}
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

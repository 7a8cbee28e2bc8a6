import { formatDuration } from '../../display/time-format.ts';
import { NoFigure } from '../no-figure.tsx';
import { ChartFrame } from './chart-frame.tsx';
import { FiguresTable } from './figures-table.tsx';
import type { RenderLink } from './bar-chart.tsx';

type Line = { name: string; stroke: string; fill: string; values: readonly (number | null)[] };
type Props = {
  title: string;
  steps: readonly string[];
  lines: readonly Line[];
  renderLink: RenderLink;
};

const height = 100;

/** Durations over time. A step without a figure is a gap, never 0. */
export function LineChart({ title, steps, lines, renderLink }: Props) {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const highest = Math.max(1, ...known);
  if (known.length === 0) return <p className="m-0 text-muted">Nothing was delivered in this period.</p>;
  const columns = lines.map(({ name, values }, at) => ({
    name,
    cells: steps.map((_, step) => {
      const value = values[step] ?? null;
      if (value === null) return <NoFigure key={step} reason="Nothing was delivered in this step" />;
      return renderLink({ step, series: at }, formatDuration(value), 'table');
    }),
  }));
  return (
    <ChartFrame
      items={lines.map(({ name, fill }) => ({ name, colour: fill }))}
      highest={formatDuration(highest)}
      steps={steps}
      width={steps.length}
      table={<FiguresTable title={title} steps={steps} columns={columns} />}
    >
      {steps.map((label, step) => (
        <g key={step}>
          <title>{titleOf(label, step, lines)}</title>
          {renderLink(
            { step, series: null },
            <rect x={step} width={1} height={height} className="fill-transparent hover:fill-raised" />,
            'bar',
          )}
        </g>
      ))}
      {lines.map(({ name, stroke, values }) => (
        <path
          key={name}
          d={pathOf(values, highest)}
          fill="none"
          strokeWidth="2"
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
          className={`pointer-events-none ${stroke}`}
        />
      ))}
    </ChartFrame>
  );
}

function titleOf(label: string, step: number, lines: readonly Line[]): string {
  const figures = lines.flatMap(({ name, values }) => {
    const value = values[step];
    return typeof value === 'number' ? [`${name} ${formatDuration(value)}`] : [];
  });
  return `${label}: ${figures.length === 0 ? 'nothing was delivered' : figures.join(', ')}`;
}

/** A step between two gaps is a short line, which would not be seen as a point. */
function pathOf(values: readonly (number | null)[], highest: number): string {
  return values
    .map((value, step) => {
      if (value === null) return '';
      const y = height - (value / highest) * (height - 4) - 2;
      const follows = step > 0 && typeof values[step - 1] === 'number';
      return follows ? `L${step + 0.5} ${y}` : `M${step + 0.3} ${y}L${step + 0.5} ${y}`;
    })
    .join('');
}

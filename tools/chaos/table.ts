import type { Trial } from './guard-trials.ts';
import type { Guard } from './guards.ts';
import type { RowResult } from './run-row.ts';

type Column = { title: string; of: (result: RowResult) => string | number };

const columns: readonly Column[] = [
  { title: 'row', of: ({ row }) => row.name },
  { title: 'accepted', of: ({ accepted }) => accepted },
  { title: '503', of: ({ unavailable }) => unavailable },
  { title: 'reset', of: ({ reset }) => reset },
  { title: 'refused', of: ({ refused }) => refused },
  { title: 'owed', of: ({ owed }) => owed },
  { title: 'delivered', of: ({ delivered }) => delivered },
  { title: 'waiting', of: ({ waiting }) => waiting },
  { title: 'held', of: ({ held }) => held },
  { title: 'dead', of: ({ dead }) => dead },
  { title: 'lost', of: ({ lost }) => lost },
  { title: 'duplicates', of: ({ duplicates }) => duplicates },
  { title: 'slowest ms', of: ({ slowestAnswerMs }) => slowestAnswerMs },
  { title: 'p99 before', of: ({ p99BeforeMs }) => p99BeforeMs },
  { title: 'p99 after', of: ({ p99Ms }) => p99Ms },
  { title: 'recovery ms', of: ({ recoveryMs }) => recoveryMs },
  { title: 'verdict', of: ({ verdict }) => verdict.kind },
];

/** For a terminal. */
export function plainTable(results: readonly RowResult[]): string {
  const cells = [columns.map(({ title }) => title), ...results.map(cellsOf)];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => (line[index] as string).length)));
  return cells
    .map((line) => line.map((cell, index) => pad(cell, widths[index] as number, index)).join('  '))
    .join('\n');
}

/** For docs/failure-matrix.md. */
export function markdownTable(results: readonly RowResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...results.map((result) => line(cellsOf(result))),
  ].join('\n');
}

/** What the trials of the guards showed. */
export function trialsTable(trials: readonly Trial[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['guard', 'without it', 'row', 'the row without it', 'told']),
    line(['---', '---', '---', '---', '---']),
    ...trials.map(({ guard, withoutGuard, passed }) =>
      line([guard.name, guard.without, guard.row, reasonOf(guard, withoutGuard), passed ? 'yes' : 'NO']),
    ),
  ].join('\n');
}

/** What the trial was about, without the ids of this one run, which say nothing to a reader. */
function reasonOf({ expects }: Guard, verdict: string): string {
  const reasons = verdict.replace(/^red: /, '').split('; ');
  const expected = reasons.filter((reason) => expects.test(reason));
  return (expected.length > 0 ? expected : reasons)
    .map((reason) => reason.replace(/, such as .*/, ''))
    .join('; ');
}

function cellsOf(result: RowResult): string[] {
  return columns.map(({ of }) => String(of(result)));
}

function pad(cell: string, width: number, index: number): string {
  return index === 0 || index === columns.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}

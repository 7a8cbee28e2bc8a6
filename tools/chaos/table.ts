import { markdownTable } from '../harness/table.ts';
import type { Trial } from './guards/trials.ts';
import type { Guard } from './guards/guards.ts';
import type { RowResult } from './outcome/conclude.ts';

const columns: readonly { title: string; of: (result: RowResult) => string | number }[] = [
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
  { title: 'outcome', of: ({ outcome }) => outcome.kind },
];

/** Lines of cells, the head first: what each row measured and how it was judged. */
export function rowCells(results: readonly RowResult[]): string[][] {
  return [
    columns.map(({ title }) => title),
    ...results.map((result) => columns.map(({ of }) => String(of(result)))),
  ];
}

/** The outcomes of the guard trials, in Markdown. */
export function trialsTable(trials: readonly Trial[]): string {
  const lines = trials.map(({ guard, withoutGuard, passed }) => [
    guard.name,
    guard.without,
    guard.row,
    reasonOf(guard, withoutGuard),
    passed ? 'yes' : 'NO',
  ]);
  return markdownTable([['guard', 'without it', 'row', 'the row without it', 'detected'], ...lines], {
    isText: true,
  });
}

/** The expected reason, without the ids of this run. */
function reasonOf({ expects }: Guard, outcome: string): string {
  const reasons = outcome.replace(/^red: /, '').split('; ');
  const expected = reasons.filter((reason) => expects.test(reason));
  return (expected.length > 0 ? expected : reasons)
    .map((reason) => reason.replace(/, such as .*/, ''))
    .join('; ');
}

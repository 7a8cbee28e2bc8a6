import type { FuzzRun } from './run-fuzz.ts';

/** Lines of cells, the head first. */
export function fuzzCells({
  seed,
  requests,
  seconds,
  answers,
  unanswered,
  memory,
  problems,
}: FuzzRun): string[][] {
  const counts = Object.entries(answers).map(([status, count]) => `${count} × ${status}`);
  return [
    [
      'seed',
      'connections',
      'seconds',
      'answers',
      'no answer',
      'MiB after each quarter',
      'of them heap',
      'problems',
    ],
    [
      String(seed),
      String(requests),
      String(Math.round(seconds)),
      counts.join(', '),
      String(unanswered),
      memory.map(({ rss }) => Math.round(rss)).join(', '),
      memory.map(({ heap }) => heap.toFixed(1)).join(', '),
      String(problems.length),
    ],
  ];
}

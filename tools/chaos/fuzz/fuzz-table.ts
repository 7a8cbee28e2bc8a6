import type { FuzzRun } from './run-fuzz.ts';

/** Lines of cells, the head first. */
export function fuzzCells({
  seed,
  requests,
  seconds,
  answers,
  unanswered,
  rssMib,
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
      'MiB at a quarter',
      'MiB at the end',
      'problems',
    ],
    [
      String(seed),
      String(requests),
      String(Math.round(seconds)),
      counts.join(', '),
      String(unanswered),
      String(rssMib.early),
      String(rssMib.late),
      String(problems.length),
    ],
  ];
}

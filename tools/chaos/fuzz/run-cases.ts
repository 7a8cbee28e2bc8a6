import { fuzzCase } from './cases.ts';
import type { FuzzTarget } from './fuzz-case.ts';
import { judgeCase } from './judge-case.ts';
import { sendCase } from './send-case.ts';

export type FuzzFigures = {
  requests: number;
  answers: Record<string, number>;
  /** Connections without an answer, where HTTP allows none. */
  unanswered: number;
  problems: string[];
};

const concurrency = 24;

/** Sends the cases with the numbers `from` to `until` - 1, some at the same time, and adds to the figures. */
export async function runCases(
  figures: FuzzFigures,
  {
    port,
    seed,
    target,
    from,
    until,
  }: { port: number; seed: number; target: FuzzTarget; from: number; until: number },
): Promise<void> {
  let next = from;
  const sender = async () => {
    while (next < until) {
      const number = next++;
      const { name, sent } = fuzzCase(seed, number, target);
      const { answers, problems } = judgeCase(sent, await sendCase(port, sent));
      figures.requests += 1;
      if (answers.length === 0) figures.unanswered += 1;
      for (const { statusCode } of answers)
        figures.answers[statusCode] = (figures.answers[statusCode] ?? 0) + 1;
      for (const problem of problems) {
        const bytes = JSON.stringify(Buffer.concat(sent.writes).toString('latin1').slice(0, 300));
        figures.problems.push(
          `seed ${seed}, number ${number} (${name}, ${sent.end}): ${problem}; sent ${bytes}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
}

export const noFigures = (): FuzzFigures => ({ requests: 0, answers: {}, unanswered: 0, problems: [] });

import { readDeadLetters, type DeadLetter } from '@hqrelay/db/queries/dead-letters';
import type pg from 'pg';

export type DeadLetterProblem = { id: string; why: string; isUnknown: boolean };

/** Which of these dead letters can be replayed, and why the others cannot. One of another project than `projectId` is unknown. */
export async function sortDeadLetters(
  pool: pg.Pool,
  given: readonly string[],
  projectId?: string,
): Promise<{ replayable: string[]; problems: DeadLetterProblem[] }> {
  const ids = [...new Set(given)];
  const letters = await readDeadLetters(pool, ids);
  const visible = letters.filter((letter) => projectId === undefined || letter.projectId === projectId);
  const found = new Map(visible.map((letter) => [letter.id, letter]));
  const problems = ids.flatMap((id) => {
    const letter = found.get(id);
    const why = whyNotReplayable(letter);
    return why === null ? [] : [{ id, why, isUnknown: letter === undefined }];
  });
  const refused = new Set(problems.map(({ id }) => id));
  return { replayable: ids.filter((id) => !refused.has(id)), problems };
}

function whyNotReplayable(letter: DeadLetter | undefined): string | null {
  if (!letter) return 'there is no such dead letter';
  if (letter.kind !== 'delivery') return `it is no delivery (${letter.kind}: ${letter.reason})`;
  if (!letter.replayedAt) return null;
  const at = letter.replayedAt.toISOString().replace('T', ' ');
  return letter.replayId === null
    ? `it was closed at ${at}: its payload was erased, or the delivery was cancelled`
    : `it was replayed at ${at} as ${letter.replayId}`;
}

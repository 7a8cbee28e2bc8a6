import type { FuzzCase } from './fuzz-case.ts';
import { readAnswers, type RawAnswer } from './read-answers.ts';
import type { Sent } from './send-case.ts';

/** What does not hold for a case: a sentence for each. */
export function judgeCase(
  sent: FuzzCase,
  { received, isHung }: Sent,
): { answers: RawAnswer[]; problems: string[] } {
  const { answers, rest } = readAnswers(received, sent.isHead);
  const [least, most] = sent.answers;
  const problems = answers.flatMap((answer, index) => {
    const [problem] = problemsOf(answer, sent.isHead === true && index === 0);
    return problem === undefined ? [] : [`${problem}: ${answer.statusCode} ${answer.body.slice(0, 200)}`];
  });
  if (isHung) problems.push('neither an answer nor a closed connection in time');
  if (answers.length < least) problems.push(`${answers.length} answers, at least ${least} expected`);
  if (answers.length > most) problems.push(`${answers.length} answers, at most ${most} expected`);
  // A request line that cannot be parsed is answered with a body, also where its method would be HEAD.
  if (rest !== '' && !isHung && !sent.isHead)
    problems.push(`an answer that is not complete: ${rest.slice(0, 200)}`);
  for (const { statusCode } of answers) {
    if (sent.statuses && !sent.statuses.includes(statusCode)) problems.push(`the status ${statusCode}`);
  }
  return { answers, problems };
}

function problemsOf({ statusCode, headers, body }: RawAnswer, isHead: boolean): string[] {
  const problems: string[] = [];
  if (!(statusCode < 500)) problems.push('a fault of the receiver');
  if (!headers.get('x-correlation-id')) problems.push('no X-Correlation-Id');
  if (isHead) return problems;
  if (statusCode >= 400 && !hasErrorForm(headers, body)) problems.push('not the error form of the contract');
  if (statusCode === 202 && !/^\{"id":"[0-9a-f-]{36}","status":"queued"\}$/.test(body))
    problems.push('not the form of a 202');
  return problems;
}

function hasErrorForm(headers: ReadonlyMap<string, string>, body: string): boolean {
  if (!headers.get('content-type')?.startsWith('application/json')) return false;
  try {
    const { error } = JSON.parse(body) as { error: { code: unknown; message: unknown } };
    return /^[a-z_]+\.[a-z_]+$/.test(String(error.code)) && typeof error.message === 'string';
  } catch {
    return false;
  }
}

import { z } from 'zod';

const statementSchema = z.strictObject({
  text: z.string().describe('One or two sentences of plain text.'),
  findingIds: z.array(z.string()).describe('The ids of the findings that the text follows from.'),
});

/** What the model is asked to answer. */
export const modelAnswer = z.strictObject({
  summary: z.array(statementSchema).describe('What matters most, in at most four statements.'),
  causes: z.array(statementSchema).describe('Likely causes, the likeliest first, at most five.'),
  nextSteps: z.array(statementSchema).describe('What to try next, the most useful first, at most five.'),
});

/** A sentence of the model that follows from findings. */
export type Statement = { text: string; findingIds: string[] };

export type Statements = { summary: Statement[]; causes: Statement[]; nextSteps: Statement[] };

const statementsMax = 5;
const textLengthMax = 500;

/**
 * The statements of an answer that may be shown: each is short plain text that cites findings, all of them known, and names no host
 * or file that the model was not told. Null for an answer of another form.
 */
export function checkAnswer(
  answer: unknown,
  told: { findingIds: ReadonlySet<string>; document: string },
): Statements | null {
  const parsed = modelAnswer.safeParse(answer);
  if (!parsed.success) return null;
  const document = told.document.toLowerCase();
  const kept = (statements: readonly Statement[]) =>
    statements
      .map(({ text, findingIds }) => ({ text: onOneLine(text), findingIds: [...new Set(findingIds)] }))
      .filter(({ text, findingIds }) => {
        const cites = findingIds.length > 0 && findingIds.every((id) => told.findingIds.has(id));
        return cites && isPlain(text) && namesOf(text).every((name) => document.includes(name));
      })
      .slice(0, statementsMax);
  const { summary, causes, nextSteps } = parsed.data;
  return { summary: kept(summary), causes: kept(causes), nextSteps: kept(nextSteps) };
}

/** The summary as one text: a line for each statement, with the ids of its findings. */
export function formatSummary(statements: readonly Statement[]): string | null {
  if (statements.length === 0) return null;
  return statements.map(({ text, findingIds }) => `${text} [${findingIds.join(', ')}]`).join('\n');
}

/** Without control, formatting and unassigned characters, which could steer a terminal or reverse the text. */
function onOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
}

/** No HTML, no Markdown link or code, no URL, no address of a mailbox. */
function isPlain(text: string): boolean {
  return (
    text !== '' &&
    text.length <= textLengthMax &&
    !/[<>[\]{}`|\\@]|:\/\/|\bwww\.|\b(?:javascript|data):/i.test(text)
  );
}

/** The words that may be a host, an address or a file; numbers with one dot and abbreviations are none. */
function namesOf(text: string): string[] {
  const dotted = text.toLowerCase().match(/[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu) ?? [];
  return dotted.filter((name) => !/^(?:\d+\.\d+|e\.g|i\.e)$/.test(name));
}

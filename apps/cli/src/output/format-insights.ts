import type { Statement } from '@hqrelay/domain/insights/model/check-answer';
import type { Finding } from '@hqrelay/domain/insights/finding';
import { formatTime, onOneLine } from './print.ts';

type Shown = {
  since: Date;
  until: Date;
  findings: readonly Pick<Finding, 'id' | 'severity' | 'text' | 'exampleIds' | 'sql'>[];
  summary: string | null;
  causes: readonly Statement[];
  nextSteps: readonly Statement[];
  note: string | null;
};

/** The findings for people, the gravest first, then what the model wrote. */
export function formatInsights(shown: Shown, { withSql }: { withSql: boolean }): string {
  const { since, until, findings, note } = shown;
  const period = `from ${formatTime(since)} to ${formatTime(until)}`;
  if (findings.length === 0) return `Nothing noteworthy ${period}.`;
  const blocks = findings.map(({ id, severity, text, exampleIds, sql }) =>
    [
      `${severity.toUpperCase()}  ${id}`,
      `  ${onOneLine(text, 2_000)}`,
      ...(exampleIds.length > 0 ? [`  Examples: ${exampleIds.join(', ')}`] : []),
      ...(withSql ? [sql.replaceAll(/^/gm, '  ')] : []),
    ].join('\n'),
  );
  const hint = withSql
    ? []
    : ['`webhook show ID` tells the story of an example; --sql prints the query behind each finding.'];
  return [
    `${findings.length} findings ${period}`,
    ...blocks,
    ...hint,
    ...writtenParts(shown),
    ...(note ? [note] : []),
  ].join('\n\n');
}

function writtenParts({ summary, causes, nextSteps }: Shown): string[] {
  if (summary === null) return [];
  const listOf = (title: string, statements: readonly Statement[]) => {
    const lines = statements.map(
      ({ text, findingIds }, index) => `  ${index + 1}. ${onOneLine(text, 1_000)} [${findingIds.join(', ')}]`,
    );
    return lines.length > 0 ? [[title, ...lines].join('\n')] : [];
  };
  const lines = summary.split('\n').map((line) => `  ${onOneLine(line, 1_000)}`);
  return [
    ['Summary, written by a model', ...lines].join('\n'),
    ...listOf('Likely causes', causes),
    ...listOf('What to try', nextSteps),
  ];
}

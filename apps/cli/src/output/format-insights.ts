import type { Finding } from '@hqrelay/domain/insights/finding';
import { formatTime, onOneLine } from './print.ts';

type Shown = {
  since: Date;
  until: Date;
  findings: readonly Pick<Finding, 'id' | 'severity' | 'text' | 'exampleIds' | 'sql'>[];
};

/** The findings for people, the gravest first. */
export function formatInsights({ since, until, findings }: Shown, { withSql }: { withSql: boolean }): string {
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
  return [`${findings.length} findings ${period}`, ...blocks, ...hint].join('\n\n');
}

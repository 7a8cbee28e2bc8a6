import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

type Target = { expr?: string; legendFormat?: string; rawSql?: string };
export type Panel = { title: string; description?: string; targets?: Target[] };

const folder = fileURLToPath(new URL('../../../../deploy/grafana/dashboards', import.meta.url));

/** The panels of the committed dashboards, as Grafana gets them; rows left out. */
export const panels: readonly Panel[] = readdirSync(folder)
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { panels: Panel[] })
  .flatMap((dashboard) => dashboard.panels.filter(({ targets }) => targets));

/** The expressions of a panel by their legends, with Grafana's macros expanded. */
export function expressionsOf(
  { targets = [] }: Panel,
  rateInterval = '1m',
): [legend: string, expression: string][] {
  return targets.flatMap(({ expr, legendFormat = '' }) =>
    expr === undefined ? [] : [[legendFormat, expr.replaceAll('$__rate_interval', rateInterval)]],
  );
}

/** Whether the panel asks Postgres. */
export const isSql = ({ targets = [] }: Panel): boolean => targets[0]?.rawSql !== undefined;

type Variables = { from: Date; to: Date; projectIds: readonly string[]; webhook: string };

/** The SQL of a panel, with Grafana's macros and the dashboard's variables expanded. */
export function sqlOf(
  { targets = [] }: Panel,
  { from, to, projectIds, webhook }: Variables,
): string | undefined {
  const time = (date: Date) => `'${date.toISOString()}'`;
  return targets[0]?.rawSql
    ?.replaceAll(/\$__timeFilter\(([^)]*)\)/g, `$1 BETWEEN ${time(from)} AND ${time(to)}`)
    .replaceAll(
      /\$__timeGroupAlias\(([^,]*), \$__interval\)/g,
      'floor(extract(epoch from $1) / 60) * 60 AS "time"',
    )
    .replaceAll('$__timeTo()', time(to))
    .replaceAll('${project:singlequote}', projectIds.map((id) => `'${id}'`).join(','))
    .replaceAll('${webhook:sqlstring}', `'${webhook}'`);
}

/** A legend such as `{{job}} {{dependency}}` with the values of the labels. */
export function legendOf(legend: string, labels: Readonly<Record<string, string>>): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '');
}

import { readFileSync } from 'node:fs';
import pg from 'pg';

/** The SQL blocks of docs/sql.md by their heading; a second block of the same heading is `Heading (2)`. */
export function readCookbook(): Map<string, string> {
  const text = readFileSync(new URL('../../../docs/sql.md', import.meta.url), 'utf8');
  const queries = new Map<string, string>();
  for (const section of text.split(/^## /m).slice(1)) {
    const [heading = ''] = section.split('\n', 1);
    const blocks = [...section.matchAll(/^```sql\n([\s\S]*?)^```/gm)];
    for (const [index, [, sql = '']] of blocks.entries()) {
      queries.set(index === 0 ? heading : `${heading} (${index + 1})`, sql);
    }
  }
  return queries;
}

/** The query with psql's variables replaced by literals, as psql does. Throws for a variable without a value. */
export function withVariables(sql: string, variables: Readonly<Record<string, string>>): string {
  return sql.replaceAll(/:'(\w+)'/g, (_, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the story has no ${name}`);
    return pg.escapeLiteral(value);
  });
}

type PlanNode = { 'Relation Name'?: string; 'Actual Loops': number; Plans?: PlanNode[] };

/** The partitions that a query reads, as `table month`: those that its plan scans at least once. */
export async function partitionsReadBy(client: pg.ClientBase, sql: string): Promise<string[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) ${sql}`,
  );
  const names = new Set<string>();
  const visit = (node: PlanNode) => {
    const name = node['Relation Name'];
    if (name && node['Actual Loops'] > 0 && /_\d{4}_\d{2}$/.test(name)) names.add(name);
    for (const child of node.Plans ?? []) visit(child);
  };
  for (const plan of rows) visit(plan['QUERY PLAN'][0].Plan);
  return [...names].toSorted();
}

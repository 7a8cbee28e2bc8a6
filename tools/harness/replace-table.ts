import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';

/** Replaces the table between `<!-- name -->` and `<!-- /name -->` of a page. Throws when the page has no such place. */
export async function replaceTable(page: string, name: string, table: string): Promise<void> {
  const path = fileURLToPath(new URL(`../../${page}`, import.meta.url));
  const text = readFileSync(path, 'utf8');
  const [before, , after] = text.split(new RegExp(`(<!-- ${name} -->[^]*<!-- /${name} -->)`));
  if (after === undefined) throw new Error(`${page} has no place for the table ${name}`);
  const filled = `${before}<!-- ${name} -->\n\n${table}\n\n<!-- /${name} -->${after}`;
  writeFileSync(path, await format(filled, { parser: 'markdown' }));
}

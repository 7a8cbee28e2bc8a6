/**
 * Writes docs/providers.md from the presets; with `--check` reports whether it is up to date:
 * node --conditions=@hqrelay/source --import tsx tools/generate-provider-docs.ts
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { presets } from '@hqrelay/domain/providers/presets';
import { format } from 'prettier';
import { providersPage } from './docs/providers-page.ts';

const script = 'node --conditions=@hqrelay/source --import tsx tools/generate-provider-docs.ts';
const path = 'docs/providers.md';
const location = fileURLToPath(new URL(`../${path}`, import.meta.url));
const content = await format(providersPage(presets), { parser: 'markdown', printWidth: 110 });

if (!process.argv.includes('--check')) {
  await writeFile(location, content);
} else if ((await readFile(location, 'utf8').catch(() => '')) !== content) {
  process.stderr.write(`${path} is not up to date; run: ${script}\n`);
  process.exitCode = 1;
}

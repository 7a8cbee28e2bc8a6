/**
 * Writes the dashboards of deploy/grafana; with `--check` reports whether they are up to date:
 * node --conditions=@hqrelay/source --import tsx tools/dashboards/main.ts
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { overview } from './overview.ts';
import { projectsAndEndpoints } from './projects.ts';

const script = 'node --conditions=@hqrelay/source --import tsx tools/dashboards/main.ts';
const folder = fileURLToPath(new URL('../../deploy/grafana/dashboards/', import.meta.url));
await mkdir(folder, { recursive: true });
for (const dashboard of [overview(), projectsAndEndpoints()]) {
  const built = dashboard.build();
  const name = `${String(built.uid)}.json`;
  const content = await format(JSON.stringify(built), {
    ...(await resolveConfig(folder + name)),
    parser: 'json',
  });
  if (!process.argv.includes('--check')) {
    await writeFile(folder + name, content);
  } else if ((await readFile(folder + name, 'utf8').catch(() => '')) !== content) {
    process.stderr.write(`deploy/grafana/dashboards/${name} is not up to date; run: ${script}\n`);
    process.exitCode = 1;
  }
}

import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

const firstLoadBytesMax = 250 * 1_024;

it('the first load is under 250 KiB of compressed script and styles', async () => {
  const built = (await build({
    configFile: `${import.meta.dirname}/../vite.config.ts`,
    logLevel: 'error',
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  const files = new Map(built.output.map((file) => [file.fileName, file]));
  const first = new Set<string>();
  const add = (name: string) => {
    const file = files.get(name);
    if (first.has(name) || !file) return;
    first.add(name);
    if (file.type === 'chunk') file.imports.forEach(add);
  };
  for (const file of built.output) {
    if ((file.type === 'chunk' && file.isEntry) || file.fileName.endsWith('.css')) add(file.fileName);
  }
  const sizes = [...first].map((name) => {
    const file = files.get(name) as Rolldown.OutputChunk | Rolldown.OutputAsset;
    return { name, bytes: gzipSync(file.type === 'chunk' ? file.code : file.source).byteLength };
  });
  expect(sizes.some(({ name }) => name.endsWith('.js'))).toBe(true);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBeLessThan(firstLoadBytesMax);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../src/app-process.ts';

const read = (file: string) => readFileSync(join(repositoryRoot, file), 'utf8');

it.each(['receiver', 'worker', 'console'])('compose starts the %s with the options of its script', (app) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const words = String(scripts[`start:${app}`]).split(' ').slice(1);
  expect(read('docker-compose.yml')).toContain(`command: [${words.map((word) => `'${word}'`).join(', ')}]`);
});

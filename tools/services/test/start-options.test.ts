import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../src/app-process.ts';

const read = (file: string) => readFileSync(join(repositoryRoot, file), 'utf8');

/** The command of a `start:` script, word by word. */
function commandOf(app: string): string[] {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  return String(scripts[`start:${app}`]).split(' ').slice(1);
}

it.each(['receiver', 'worker', 'console'])('compose starts the %s with the options of its script', (app) => {
  // A long command has a line for each word.
  const compose = read('docker-compose.yml')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('[ ', '[')
    .replaceAll(', ]', ']');
  const words = commandOf(app).map((word) => `'${word}'`);
  expect(compose).toContain(`command: [${words.join(', ')}]`);
});

it('the image starts the receiver with the options of its script', () => {
  const words = commandOf('receiver').map((word) => `"${word}"`);
  expect(read('Dockerfile')).toContain(`\nCMD [${words.join(', ')}]`);
});

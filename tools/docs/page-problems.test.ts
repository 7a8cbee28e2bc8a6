import { expect, test } from 'vitest';
import { problemsOf, type Repository } from './page-problems.ts';

const files: Readonly<Record<string, string>> = {
  'README.md': '# HQRelay\n\n## First steps\n',
  'docs/guide.md': '',
  'apps/worker/src/main.ts': '',
};
const folders = ['apps', 'docs', 'apps/worker', 'apps/worker/src'];

function problemsIn(text: string): string[] {
  const repository: Repository = {
    exists: (path) => path in files || folders.includes(path),
    read: (path) => (path === 'docs/guide.md' ? text : (files[path] ?? '')),
    topLevel: ['README.md', 'apps', 'docs'],
    fileNames: new Set(['README.md', 'guide.md', 'main.ts']),
    scripts: ['up', 'hqrelay'],
    commands: new Set(['endpoint-list', 'send']),
    hasOption: (option) => option === '--project',
  };
  return problemsOf('docs/guide.md', repository);
}

test('a page whose links, paths, scripts, commands and options exist has no problem', () => {
  const text =
    'See [it](../README.md#first-steps), `apps/worker/src/main.ts`, `main.ts`, `text/plain` and `npm run up`.\n' +
    '```sh\nnpm run hqrelay -- endpoint list --project <id>   # --comment\ndocker compose run --rm hqrelay send\n```\n';
  expect(problemsIn(text)).toEqual([]);
});

test.each([
  ['a missing file in a link', '[it](missing.md)', 'links to missing.md'],
  ['a missing heading in a link', '[it](../README.md#last-steps)', 'links to ../README.md#last-steps'],
  ['a missing path', '`apps/worker/src/app.ts`', 'names `apps/worker/src/app.ts`'],
  ['a missing file name', '`app.ts`', 'names `app.ts`'],
  ['a missing npm script', 'npm run down', 'says npm run down'],
  ['a missing command', 'npm run hqrelay -- endpoint remove', 'says hqrelay endpoint remove'],
  ['a missing option', 'npm run --silent hqrelay -- send --fast', 'says hqrelay --fast'],
])('a page with %s is reported', (_what, text, problem) => {
  expect(problemsIn(text)).toEqual([`docs/guide.md ${problem}, which does not exist`]);
});

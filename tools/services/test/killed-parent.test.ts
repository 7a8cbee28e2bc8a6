import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '../src/throw-away-folder.ts';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, test } from 'vitest';
import { processesOf } from './processes-of.ts';

test('private servers end when the process that started them is killed', async () => {
  const dir = makeThrowAwayFolder('hqrelay-servers-');
  const program = fileURLToPath(new URL('starts-and-waits.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@hqrelay/source', '--import', 'tsx', program, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise((resolve, reject) => {
      child.stdout.once('data', resolve);
      child.once('exit', () => reject(new Error('it ended before its servers were up')));
    });
    expect(processesOf(dir).length).toBeGreaterThan(3);

    child.kill('SIGKILL');

    await waitFor('all of them to end', () => processesOf(dir).length === 0);
  } finally {
    child.kill('SIGKILL');
    removeThrowAwayFolder(dir);
  }
});

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../src/wait-for.ts';
import { expect, test } from 'vitest';

test('a run that exits before it is stopped leaves no server and no folder', async () => {
  const program = fileURLToPath(new URL('starts-and-exits.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@hqrelay/source', '--import', 'tsx', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(7);

  const { folder, pids } = JSON.parse(output) as { folder: string; pids: number[] };
  expect(existsSync(folder)).toBe(false);
  expect(pids.length).toBeGreaterThan(3);
  await waitFor('its servers to end', () => !pids.some(runs));
});

/** A process that has ended keeps an entry without a command line until its parent collects it. */
function runs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

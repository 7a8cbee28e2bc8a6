import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// The long form: `npm run chaos -- --fuzz`.
it('a receiver answers requests of every wrong kind in the form of the contract, with no fault of its own', async () => {
  const { code, output } = await runFuzz('--seed', '20261122', '--requests', '450');
  // A problem is printed with its seed and number.
  expect(output).not.toContain('seed 20261122, number');
  // The seed, the connections, and the statuses that only the receiver's own code answers.
  expect(output).toMatch(/^20261122 +450 .*× 202, .*× 401, .*× 404, .*× 405, .*× 431/m);
  expect(code).toBe(0);
});

function runFuzz(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    process.execPath,
    ['--conditions=@hqrelay/source', '--import', 'tsx', 'tools/chaos/main.ts', '--fuzz', '--source', ...args],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

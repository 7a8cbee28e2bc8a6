import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A row of the matrix that does not count is run once more, and a busy machine takes minutes for each. */
const timeout = 720_000;

// Runs in a process of its own, as `npm run chaos` does, so it kills no server that another test uses.
it('no webhook is lost when workers are killed and RabbitMQ restarts', { timeout }, async () => {
  const { code, output } = await runChaos('--small', '--source', '--only', 'worker-kill,rabbitmq-restart');

  expect(output).toMatch(/^worker-kill\+rabbitmq-restart .* green/m);
  expect(code).toBe(0);
});

function runChaos(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    process.execPath,
    ['--conditions=@hqrelay/source', '--import', 'tsx', 'tools/chaos/main.ts', ...args],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

type Runner = { process: ChildProcess; output: () => string; said: (text: string) => Promise<void> };

/** Runs a program through `runChild` in its own process, which ends as the program does and prints each interrupt. */
function startRunner(program: string): Runner {
  const url = JSON.stringify(new URL('./run-child.mjs', import.meta.url).href);
  const runner = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { endLike, runChild } from ${url};
     const ended = runChild(process.execPath, ['-e', ${JSON.stringify(program)}]);
     let seen = 0;
     process.on('SIGINT', () => console.log('seen ' + ++seen));
     endLike(await ended);`,
  ]);
  let output = '';
  runner.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const said = async (text: string) => {
    while (!output.includes(text)) await once(runner.stdout, 'data');
  };
  return { process: runner, output: () => output, said };
}

test('a runner ends with the exit code of its child', async () => {
  const runner = startRunner('process.exit(3)');
  expect(await once(runner.process, 'exit')).toEqual([3, null]);
});

test('a runner whose child ends by a signal ends by the same signal', async () => {
  const runner = startRunner("process.kill(process.pid, 'SIGKILL')");
  expect(await once(runner.process, 'exit')).toEqual([null, 'SIGKILL']);
});

test('an interrupt that comes twice at once, from the terminal and from npm, reaches the child once', async () => {
  const runner = startRunner(`
    let count = 0;
    process.on('SIGINT', () => console.log('interrupt ' + ++count));
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await runner.said('ready');
  runner.process.kill('SIGINT');
  await runner.said('seen 1');
  runner.process.kill('SIGINT');
  await runner.said('seen 2');
  await runner.said('interrupt 1');
  runner.process.kill('SIGTERM');
  expect(await once(runner.process, 'close')).toEqual([7, null]);
  expect(runner.output()).not.toContain('interrupt 2');
});

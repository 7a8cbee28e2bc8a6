import { readEnvironment } from './config.ts';
import { run } from './program.ts';

// A reader such as `head` may close the pipe early: what is left to print interests nobody.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const exitCode = await run(process.argv.slice(2), {
  ...readEnvironment(),
  stdin: process.stdin,
  print: (text) => process.stdout.write(text),
  warn: (text) => process.stderr.write(text),
});

// What is printed is flushed first; a connection that lingers must not keep anybody waiting.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));

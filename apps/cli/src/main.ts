import { readEnvironment } from './config.ts';
import { run } from './program.ts';

// A reader such as `head` may close the pipe early: the rest of the output is dropped, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const exitCode = await run(process.argv.slice(2), {
  ...readEnvironment(),
  stdin: process.stdin,
  print: (text) => process.stdout.write(text),
  warn: (text) => process.stderr.write(text),
});

// The output is flushed first. Then the process exits, although a connection may still be open.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));

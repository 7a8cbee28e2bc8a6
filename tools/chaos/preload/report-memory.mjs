// Loaded into a receiver before its own code. After SIGUSR2 the process collects its garbage and prints its memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = /** @type {() => void} */ (runInNewContext('gc'));

process.on('SIGUSR2', () => {
  for (let i = 0; i < 4; i += 1) collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ event: 'memory', rss, heapUsed, external })}\n`);
});

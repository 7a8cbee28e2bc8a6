import { expect, it } from 'vitest';
import { terminalLine } from './terminal-line.ts';

it('a log line on a terminal has the time, the level, the event and its fields, and no control character', () => {
  const line = JSON.stringify({
    level: 'info',
    time: Date.UTC(2026, 0, 1, 2, 3, 4, 5),
    pid: 1,
    hostname: 'h',
    name: 'worker',
    id: 'evt-1',
    error: 'HTTP 500\u001b[2J',
    msg: 'delivery.attempted',
  });
  expect(terminalLine(`${line}\n`)).toBe(
    '02:03:04.005 INFO  worker: delivery.attempted id=evt-1 error="HTTP 500\\u001b[2J"\n',
  );
  expect(terminalLine('plain text\n')).toBe('plain text\n');
});

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { curlCommand } from './curl-command.ts';

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`]);
  return printed.toString().split('\0').slice(0, -1);
}

const request = { url: 'http://relay.test/v1/webhooks/1?a=b&c', headers: [], body: '{}', bodyFile: '1.bin' };

it('a shell passes every text on to curl as it is', () => {
  const nasty = `it's "$HOME" \`id\` $(id) \\ !x %s *\n-- @file é\r\n`;
  const args = argumentsOf(curlCommand({ ...request, headers: [['X-Note', "a'b $(id)"]], body: nasty }));
  expect(args).toEqual([
    '-X',
    'POST',
    request.url,
    '-H',
    "X-Note: a'b $(id)",
    '-H',
    'Content-Type:',
    '--data-raw',
    nasty,
  ]);
});

it('any body that is text reaches curl unchanged', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((body) => !body.includes('\0'));
  fc.assert(
    fc.property(text, (body) => argumentsOf(curlCommand({ ...request, body })).at(-1) === body),
    { numRuns: 30 },
  );
});

it('a body that is no text is read from the downloaded file', () => {
  for (const body of [undefined, 'a\0b']) {
    expect(argumentsOf(curlCommand({ ...request, body })).slice(-2)).toEqual(['--data-binary', '@1.bin']);
  }
});

it('headers of the connection are left to curl, and an empty header stays', () => {
  const headers = [
    ['Host', 'relay.test'],
    ['Content-Length', '2'],
    ['Content-Type', 'application/json'],
    ['X-Empty', ''],
  ] as const;
  expect(argumentsOf(curlCommand({ ...request, headers })).filter((each) => /[:;]/.test(each))).toEqual([
    request.url,
    'Content-Type: application/json',
    'X-Empty;',
  ]);
});

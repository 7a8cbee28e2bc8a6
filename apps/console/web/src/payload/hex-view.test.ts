import { expect, it } from 'vitest';
import { hexView } from './hex-view.ts';

it('each line has its offset, sixteen bytes and their ASCII', () => {
  const bytes = new TextEncoder().encode('{"order":"4711"}\u00e9\n');
  expect(hexView(bytes)).toBe(
    [
      '00000000  7b 22 6f 72 64 65 72 22 3a 22 34 37 31 31 22 7d  {"order":"4711"}',
      '00000010  c3 a9 0a                                         ...',
    ].join('\n'),
  );
});

it('no bytes are no lines', () => {
  expect(hexView(new Uint8Array())).toBe('');
});

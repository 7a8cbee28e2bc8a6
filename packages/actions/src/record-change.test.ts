import { expect, it } from 'vitest';
import { changedFields } from './record-change.ts';

it('a change is described by the fields that differ, before and after', () => {
  const before = { id: 'a', events: ['x'], paused: false, reason: undefined };
  const after = { id: 'a', events: ['y'], paused: true, reason: undefined };
  expect(changedFields(before, after)).toEqual({
    before: { events: ['x'], paused: false },
    after: { events: ['y'], paused: true },
  });
});

it('a change of nothing has no fields', () => {
  const at = new Date();
  expect(changedFields({ events: ['x'], at }, { events: ['x'], at: new Date(at) })).toEqual({});
});

it('a creation is described by all its fields after, and none before', () => {
  expect(changedFields(null, { id: 'a', url: 'https://a.example/' })).toEqual({
    after: { id: 'a', url: 'https://a.example/' },
  });
});

it('a URL loses its secret parameters', () => {
  const url = (token: string) => ({ url: `https://a.example/?token=${token}` });
  expect(changedFields(url('one'), url('two'))).toEqual({
    before: { url: 'https://a.example/?token=***' },
    after: { url: 'https://a.example/?token=***' },
  });
});

import type { AuditRow, WebhookLogRow } from '@hqrelay/db/queries/append-audit';
import { freshId } from '@hqrelay/testing/fresh-id';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ThinnedRows } from './thinned-rows.ts';

let written: WebhookLogRow[];
let rows: ThinnedRows;

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  rows = new ThinnedRows((row: AuditRow) => {
    if (row.kind === 'webhook') written.push(row.log);
  });
});
afterEach(() => void vi.useRealTimers());

const rowOf = (projectId: string, status: WebhookLogRow['status'] = 'duplicate'): WebhookLogRow => ({
  id: freshId(),
  projectId,
  webhookId: 'evt_1',
  eventType: null,
  status,
  reason: null,
  endpointIds: [],
  duplicateOf: null,
  payloadSha256: null,
  payloadBytes: 0,
  remoteAddr: null,
  correlationId: 'c',
});

it('the thinned requests of a second are one row for each project and status, with their number', () => {
  const first = rowOf('a');
  rows.add(first);
  for (let i = 0; i < 9; i += 1) rows.add(rowOf('a'));
  rows.add(rowOf('a', 'conflict'));
  rows.add(rowOf('b'));
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(written.map(({ projectId, status, requestCount }) => [projectId, status, requestCount])).toEqual([
    ['a', 'duplicate', 10],
    ['a', 'conflict', 1],
    ['b', 'duplicate', 1],
  ]);
  expect(written[0]).toMatchObject({ id: first.id });
});

it('requests that are thinned after a row was written are in the row of the next second', () => {
  for (let second = 0; second < 3; second += 1) {
    for (let i = 0; i < 100; i += 1) rows.add(rowOf('a'));
    vi.advanceTimersByTime(1_000);
  }
  expect(written.map(({ requestCount }) => requestCount)).toEqual([100, 100, 100]);
});

it('a flush writes the rows of the second that has not ended', () => {
  rows.add(rowOf('a'));
  rows.flush();
  expect(written).toHaveLength(1);
  rows.flush();
  vi.advanceTimersByTime(5_000);
  expect(written).toHaveLength(1);
});

it('the rows of more than ten thousand projects are written before the second ends, and none is lost', () => {
  for (let project = 0; project < 25_000; project += 1) rows.add(rowOf(`p${project}`));
  expect(written).toHaveLength(20_000);
  vi.advanceTimersByTime(1_000);
  expect(written).toHaveLength(25_000);
});

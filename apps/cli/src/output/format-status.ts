import type { RelayStatus } from '../status/read-status.ts';
import { type Cell, formatDuration, formatFields, onOneLine } from './print.ts';

const unknown = '?';

/** The status for people, on one screen. `?` is a figure whose dependency did not say it. */
export function formatStatus(status: RelayStatus): string {
  const { dependencies, workers, held, deadLetters, outbox, spilled, partitionsAhead, warnings } = status;
  const states = dependencies.map(({ name, state, reason }): [string, Cell] => [
    name,
    reason === null ? state : `DOWN: ${onOneLine(reason)}`,
  ]);
  const heldCells = Object.entries(held ?? {}).map(([reason, count]) => `${reason} ${count}`);
  const waiting = {
    held: held === null ? unknown : heldCells.join(', '),
    'dead letters': deadLetters ?? unknown,
    outbox: outbox ?? unknown,
    'spilled audit messages': spilled ?? unknown,
  };
  const relay = {
    'live workers': workers ?? unknown,
    'partitions ahead': partitionsAhead === null ? unknown : `${partitionsAhead} months`,
    clock: clockCell(status.clockOffsetsMs),
  };
  const sections = [
    ['Dependencies', formatFields(Object.fromEntries(states))],
    ['Backlog by queue', backlogLines(status)],
    ['Waiting', formatFields(waiting)],
    ['Relay', formatFields(relay)],
    ...(warnings.length > 0 ? [['Warnings', warnings.map((each) => `  ${onOneLine(each)}`).join('\n')]] : []),
  ];
  return sections.map(([title, lines]) => `${title}\n${lines}`).join('\n\n');
}

/** Every work queue with the age of its oldest message, and each other queue that is not empty. */
function backlogLines({ queues, oldestAgeSeconds }: RelayStatus): string {
  if (queues === null) return `  ${unknown}`;
  const ages = new Map<string, number | null>(Object.entries(oldestAgeSeconds));
  const shown = Object.entries(queues)
    .filter(([queue, depth]) => depth > 0 || ages.has(queue))
    .map(([queue, depth]): [string, Cell] => [queue, backlogCell(depth, ages.get(queue))]);
  return formatFields(Object.fromEntries(shown));
}

function backlogCell(depth: number, ageSeconds: number | null | undefined): Cell {
  if (depth === 0 || ageSeconds === undefined) return depth;
  return `${depth}, the oldest ${ageSeconds === null ? unknown : `waits for ${formatDuration(ageSeconds * 1_000)}`}`;
}

function clockCell({ postgres, redis }: RelayStatus['clockOffsetsMs']): string {
  const offset = (ms: number | null) => (ms === null ? unknown : `${ms > 0 ? '+' : ''}${ms} ms`);
  return `${offset(postgres)} to Postgres', ${offset(redis)} to Redis'`;
}

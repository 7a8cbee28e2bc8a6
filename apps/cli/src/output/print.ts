import { redactQuery, redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { Cli } from '../cli.ts';

/** Prints `value` as one JSON value with --json, else the text for people. Its URLs and queries lose their secrets. */
export function printResult(
  cli: Cli,
  options: { json?: boolean | undefined },
  value: unknown,
  forPeople: () => string,
): void {
  const text = options.json ? JSON.stringify(value, withoutUrlSecrets) : forPeople();
  cli.print(text.endsWith('\n') ? text : `${text}\n`);
}

function withoutUrlSecrets(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'url' || key === 'endpointUrl') return redactUrl(value);
  return key === 'query' ? redactQuery(value) : value;
}

/** Columns aligned under their titles; without rows, the sentence in `whenEmpty`. */
export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  whenEmpty: string,
): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [titles, ...rows.map((row) => row.map(formatCell))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One name and value per line; undefined values are left out. */
export function formatFields(fields: Readonly<Record<string, Cell | undefined>>): string {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `  ${name.padEnd(width)}  ${formatCell(value ?? null)}`).join('\n');
}

export type Cell = string | number | boolean | Date | null;

/** `2026-03-01 02:13:45.123Z`. */
export function formatTime(time: Date): string {
  return time.toISOString().replace('T', ' ');
}

/** `45 s`, `12 min`, `3 h` or `5 d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** One line of a text that a sender or an endpoint wrote, without control characters: they could steer the terminal. */
export function onOneLine(text: string, lengthMax = 200): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
}

function formatCell(cell: Cell): string {
  if (cell === null) return '-';
  if (cell instanceof Date) return formatTime(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  const text = String(cell);
  return onOneLine(/^https?:\/\//.test(text) ? redactUrl(text) : text, 2_048);
}

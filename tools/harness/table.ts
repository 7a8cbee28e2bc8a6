/** A table for a terminal. The first line is the head. The first column and `leftColumns` are aligned left, the others right. */
export function plainTable(
  lines: readonly (readonly string[])[],
  leftColumns: readonly number[] = [],
): string {
  const widths = (lines[0] ?? []).map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  const pad = (cell: string, index: number) =>
    index === 0 || leftColumns.includes(index)
      ? cell.padEnd(widths[index] ?? 0)
      : cell.padStart(widths[index] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

/** A table in Markdown; with `isText` every column is aligned left. */
export function markdownTable(
  [head = [], ...lines]: readonly (readonly string[])[],
  { isText = false } = {},
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (isText || index === 0 ? '---' : '---:'));
  return [head, rule, ...lines].map(line).join('\n');
}

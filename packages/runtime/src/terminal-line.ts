/** A JSON log line for people: time, level, event, then the fields. Text that is not a log line stays as it is. */
export function terminalLine(line: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, name, msg, pid: _pid, hostname: _hostname, ...rest } = fields;
  const clock = new Date(Number(time)).toISOString().slice(11, 23);
  const shown = Object.entries(rest).map(([key, value]) => `${key}=${shownAs(value)}`);
  return `${[clock, String(level).toUpperCase().padEnd(5), `${String(name)}:`, String(msg), ...shown].join(' ')}\n`;
}

/** As JSON where it is no plain word, so that no control character reaches the terminal. */
function shownAs(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value);
}

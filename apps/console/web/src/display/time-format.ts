export type Zone = 'local' | 'utc';

const options = {
  moment: {
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  },
  exact: {
    year: 'numeric',
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
    timeZoneName: 'shortOffset',
  },
  minute: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: '2-digit', month: 'short' },
  date: { day: '2-digit', month: 'short', year: 'numeric' },
  dayAndMinute: { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof options;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The only place that turns a time into text; `zoneName` is an IANA name. */
export function formatTime(at: string | number | Date, style: TimeStyle, zoneName: string): string {
  const key = `${style} ${zoneName}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { ...options[style], timeZone: zoneName });
    formats.set(key, format);
  }
  return format.format(new Date(at)).replace(/\u202f/g, ' ');
}

export function zoneNameOf(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `UTC+7`, as it is at that time. */
export function offsetOf(zoneName: string, at: number): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zoneName, timeZoneName: 'shortOffset' });
  const name = parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
  return name.replace(/^GMT/, 'UTC');
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** The clock of the pages ticks every five seconds, so an event of just now may seem to lie ahead. */
const tickMs = 5_000;

/** `2 min ago`, `in 5 min`, `now`. */
export function formatRelative(at: string | number, now: number): string {
  const distance = new Date(at).getTime() - now;
  if (distance > 0 && distance < tickMs) return 'now';
  const unit = units.find(([, ms]) => Math.abs(distance) >= ms);
  if (!unit) return 'now';
  const text = `${Math.trunc(Math.abs(distance) / unit[1])} ${unit[0]}`;
  return distance > 0 ? `in ${text}` : `${text} ago`;
}

/** `34 ms`, `1.2 s`, `3 min 5 s`, `2 h`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_950 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return joined(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return joined(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

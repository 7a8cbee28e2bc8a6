const presets: ReadonlyMap<string, readonly string[]> = new Map([
  ['hqrelay', ['5s', '30s', '5m', '30m', '1h']],
  ['omise', ['1m', '5m', '15m', '1h', '3h', '6h', '12h', '24h', '48h', '48h']],
  ['standard-webhooks', ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h']],
]);

const delaysMax = 30;
const delayMinMs = 1_000;
const delayMaxMs = 48 * 3_600_000;
const retryAfterFloorMs = 3_600_000;

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The delays that RabbitMQ has a queue for (`hqrelay.delay.<name>`), shortest first. */
export const delayLadder = [
  { name: '1s', ms: 1_000 },
  { name: '2s', ms: 2_000 },
  { name: '5s', ms: 5_000 },
  { name: '10s', ms: 10_000 },
  { name: '30s', ms: 30_000 },
  { name: '1m', ms: 60_000 },
  { name: '5m', ms: 300_000 },
  { name: '10m', ms: 600_000 },
  { name: '30m', ms: 1_800_000 },
  { name: '1h', ms: 3_600_000 },
] as const;

export type DelayRung = (typeof delayLadder)[number];

/** Milliseconds of a duration such as `5s`, `30m`, `48h` or `7d`: a whole number and one unit. Throws RangeError. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new RangeError(
      `${quote(text)} is not a duration: a whole number and s, m, h or d, such as 30s or 48h`,
    );
  }
  return Number(amount) * unitMs[unit]!;
}

/**
 * The delays of a preset (`hqrelay`, `omise`, `standard-webhooks`) or of a list such as `1s,2s,4s`, as durations.
 * Throws RangeError saying why: each from 1 s to 48 h, at most 30 of them.
 */
export function parseRetrySchedule(text: string): string[] {
  const preset = presets.get(text.trim());
  if (preset) return [...preset];
  const items = text.split(',').map((item) => item.trim());
  if (items.length > delaysMax) {
    throw new RangeError(`a retry schedule has at most ${delaysMax} delays, not ${items.length}`);
  }
  if (items.length === 1 && !/^\d/.test(items[0]!)) {
    const names = [...presets.keys()].join(', ');
    throw new RangeError(
      `${quote(text)} is not a retry schedule: use one of ${names}, or a list such as 1s,2s,4s`,
    );
  }
  return items.map((item) => {
    const delayMs = parseDurationMs(item);
    if (delayMs < delayMinMs || delayMs > delayMaxMs) {
      throw new RangeError(`${quote(item)} is not a delay of a retry schedule: each is from 1s to 48h`);
    }
    return item;
  });
}

/**
 * How long to wait, in ms, after attempt `attemptNum` (from 1) failed; null when the schedule is used up. A Retry-After can only
 * lengthen the delay, up to the longer of the schedule's longest delay and one hour.
 */
export function nextDelayMs(input: {
  schedule: readonly string[];
  attemptNum: number;
  retryAfterMs?: number | undefined;
}): number | null {
  const { schedule, attemptNum, retryAfterMs = 0 } = input;
  if (!Number.isInteger(attemptNum) || attemptNum < 1) {
    throw new RangeError(`attempts count from 1, not ${attemptNum}`);
  }
  const scheduled = schedule[attemptNum - 1];
  if (scheduled === undefined) return null;
  const scheduledMs = parseDurationMs(scheduled);
  const retryAfterMaxMs = Math.max(retryAfterFloorMs, ...schedule.map(parseDurationMs));
  return retryAfterMs > scheduledMs ? Math.min(retryAfterMs, retryAfterMaxMs) : scheduledMs;
}

/**
 * Milliseconds from `now` that a Retry-After header (seconds, or an HTTP-date of RFC 9110 in any of its three forms)
 * asks for; 0 for a date in the past; undefined for anything else, so that a malformed header is ignored.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  const date = parseHttpDate(text);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** The longest rung that is not longer than what remains; the shortest one when less than that remains. */
export function longestRung(remainingMs: number): DelayRung {
  return delayLadder.findLast((rung) => rung.ms <= remainingMs) ?? delayLadder[0];
}

const httpDateForms: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const asctimeForm = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function parseHttpDate(text: string): number | undefined {
  // asctime carries no zone and Date.parse would take it as local time.
  const dated = asctimeForm.test(text) ? `${text} GMT` : text;
  if (dated === text && !httpDateForms.some((form) => form.test(text))) return undefined;
  const date = Date.parse(dated);
  return Number.isNaN(date) ? undefined : date;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

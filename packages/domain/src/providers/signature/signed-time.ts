import type { SignedScheme } from '../scheme.ts';

type Timestamp = NonNullable<SignedScheme['timestamp']>;

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** ms since epoch; undefined for text that is not a time in the provider's form. */
export function parseTime({ unit }: Timestamp, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (unit === 'iso') {
    const time = isoTime.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  }
  if (unit === 'seconds') return /^\d{1,12}$/.test(text) ? Number(text) * 1_000 : undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The time in the form that the provider sends. */
export function formatTime({ unit }: Timestamp, now: number): string {
  if (unit === 'iso') return new Date(now).toISOString();
  return String(unit === 'seconds' ? Math.floor(now / 1_000) : now);
}

/** Why a time is too far from now; null when it is not. */
export function staleness({ toleranceSeconds }: Timestamp, signedAt: number, now: number): string | null {
  if (toleranceSeconds === undefined) return null;
  const ageSeconds = (now - signedAt) / 1_000;
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  const distance = `${Math.ceil(Math.abs(ageSeconds))} s ${ageSeconds > 0 ? 'old' : 'in the future'}`;
  return `the timestamp is ${distance}; at most ${toleranceSeconds} s are accepted`;
}

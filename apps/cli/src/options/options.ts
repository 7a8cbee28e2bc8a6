import { InvalidArgumentError, Option } from 'commander';
import { isUuid, timeOfId } from '@hqrelay/domain/ids';
import { parseDurationMs } from '@hqrelay/domain/delivery/retry-schedule';

/** An option's parser whose error message is that of the RangeError that `parse` throws. */
export function parsedBy<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof RangeError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };
}

/** A UUID in lower case, as Postgres prints it. */
export const uuid = parsedBy((text) => {
  if (!isUuid(text)) {
    throw new RangeError('expected a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057');
  }
  return text.toLowerCase();
});

/** The id of a webhook: a UUIDv7, which contains its time. */
export const webhookLogId = parsedBy((text) => {
  try {
    timeOfId(text);
  } catch {
    throw new RangeError(
      'expected the id that the 202 answered, a UUID of version 7; hqrelay webhook list finds it by the id of the provider',
    );
  }
  return text.toLowerCase();
});

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** ms since epoch of a time (UTC unless it names a zone) or of a duration before now. */
export const pastMoment = parsedBy((text) => {
  const [, day, time = '00:00', zone = 'Z'] = timePattern.exec(text) ?? [];
  if (day === undefined) return Date.now() - parseDurationMs(text);
  const ms = Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(ms))
    throw new RangeError('expected a time such as 2026-03-01T02:13Z, or a duration such as 24h');
  return ms;
});

/** Parses a duration between `min` and `max`, durations themselves, into milliseconds. */
export function durationBetween(min: string, max: string): (text: string) => number {
  const [minMs, maxMs] = [parseDurationMs(min), parseDurationMs(max)];
  return parsedBy((text) => {
    const ms = parseDurationMs(text);
    if (ms < minMs || ms > maxMs) throw new RangeError(`expected a duration from ${min} to ${max}`);
    return ms;
  });
}

/** `--overlap`, in milliseconds: how long an old secret stays in use beside a new one. */
export function overlapOption(description: string): Option {
  return new Option('--overlap <duration>', `${description} (0s to 90d)`)
    .argParser(durationBetween('0s', '90d'))
    .default(86_400_000, '24h');
}

export function integerBetween(min: number, max: number): (text: string) => number {
  return parsedBy((text) => {
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < min || value > max) {
      throw new RangeError(`expected a whole number from ${min} to ${max}`);
    }
    return value;
  });
}

/** Text of one line, for tables and lists. */
export function label(lengthMax: number): (text: string) => string {
  return parsedBy((text) => {
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.length > lengthMax || /\p{Cc}/u.test(trimmed) || !trimmed.isWellFormed()) {
      throw new RangeError(`expected 1 to ${lengthMax} characters, none of them a control character`);
    }
    return trimmed;
  });
}

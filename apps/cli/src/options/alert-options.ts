import { alertKinds, type AlertChannel, type AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { parseDurationMs } from '@hqrelay/domain/delivery/retry-schedule';
import { UsageError } from '../cli.ts';
import { parsedBy } from './options.ts';

/** `--on`: kinds, separated by commas. */
export const kindList = parsedBy((text): AlertKind[] => {
  const kinds = text.split(',').map((kind) => kind.trim());
  const unknown = kinds.find((kind) => !(alertKinds as readonly string[]).includes(kind));
  if (unknown !== undefined) throw new RangeError(`expected kinds of ${alertKinds.join(', ')}`);
  return [...new Set(kinds)] as AlertKind[];
});

export type ChannelOptions = { email?: string; webhook?: string; slack?: string };

/** The one channel that is given. Throws UsageError. */
export function channelOf({ email, webhook, slack }: ChannelOptions): {
  channel: AlertChannel;
  target: string;
} {
  const given = Object.entries({ email, webhook, slack }).filter(([, target]) => target !== undefined);
  const [first] = given;
  if (!first || given.length > 1) {
    throw new UsageError('give exactly one of --email, --webhook and --slack');
  }
  return { channel: first[0] as AlertChannel, target: first[1] as string };
}

/** `--until`: a time that is still to come, or a duration from now. */
export const comingMoment = parsedBy((text) => {
  const isDuration = /^\d+[smhd]$/.test(text);
  const ms = isDuration ? Date.now() + parseDurationMs(text) : Date.parse(text);
  if (Number.isNaN(ms) || ms <= Date.now()) {
    throw new RangeError('expected a coming time such as 2026-03-01T02:13Z, or a duration such as 4h');
  }
  return ms;
});

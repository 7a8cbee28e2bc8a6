import type { Endpoint } from '@hqrelay/db/queries/endpoints';
import type { Command } from 'commander';
import { integerBetween } from './options.ts';

/** The option of the commands that release held deliveries, as commander parses it. */
export type ReleaseRateOption = { rate?: number };

/** The most deliveries that one worker releases to one endpoint, per second. */
const releaseRateMax = 2_000;

export function addReleaseRateOption(command: Command): Command {
  return command.option(
    '--rate <per-second>',
    'how fast held deliveries are released; stays until it is changed (default: 100)',
    integerBetween(1, releaseRateMax),
  );
}

export function describeRelease({ releaseRate }: Endpoint): string {
  return `Held deliveries are released at ${releaseRate} a second.`;
}

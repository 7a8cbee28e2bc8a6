import type { Command } from 'commander';
import { integerBetween, label } from './options.ts';

/** The options of every command that replays many deliveries, as commander parses them. */
export type ReplayJobOptions = { dryRun?: boolean; rate: number; by?: string; json?: boolean };

export function addReplayJobOptions(command: Command): Command {
  return command
    .option('--dry-run', 'count them, and change nothing')
    .option('--rate <per-second>', 'how many a second (1 to 2000)', integerBetween(1, 2_000), 50)
    .option('--by <who>', 'who asks for it (default: the user of this computer)', label(200))
    .option('--json', 'print one JSON value');
}

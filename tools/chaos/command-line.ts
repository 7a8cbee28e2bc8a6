import { parseArgs } from 'node:util';
import { guards } from './guards/guards.ts';
import type { Row } from './row.ts';
import { together } from './together.ts';

export type ChaosCommand =
  | { kind: 'run'; rows: Row[]; small: boolean; fromSource: boolean; write: boolean; keepLogs: boolean }
  | { kind: 'list' }
  | { kind: 'guards'; only: string[]; write: boolean; keepLogs: boolean }
  | { kind: 'wrong'; message: string };

export const usage = `npm run chaos -- [options]

  --only name[,name] these rows alone, or with --guards these guards
  --list            lists the rows
  --guards          injects faults that take guards out of the apps, and expects rows to go red
  --small           the rows under one load, fewer webhooks, no time is judged: what npm test runs
  --source          starts the apps from their source instead of the build
  --write           puts the table into docs/failure-matrix.md
  --keep-logs       keeps the logs of apps and servers until the next run, and prints their folder
`;

export function readCommandLine(args: readonly string[], all: readonly Row[]): ChaosCommand {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        list: { type: 'boolean', default: false },
        guards: { type: 'boolean', default: false },
        small: { type: 'boolean', default: false },
        source: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        'keep-logs': { type: 'boolean', default: false },
      },
    });
    const only = values.only?.split(',') ?? [];
    if (values.list) return { kind: 'list' };
    if (values.guards) {
      const unknown = only.filter((name) => !guards.some((guard) => guard.name === name));
      if (unknown.length > 0) return { kind: 'wrong', message: `there is no guard ${unknown.join(' or ')}` };
      return { kind: 'guards', only, write: values.write, keepLogs: values['keep-logs'] };
    }
    const unknown = only.filter((name) => !all.some((row) => row.name === name));
    if (unknown.length > 0) return { kind: 'wrong', message: `there is no row ${unknown.join(' or ')}` };
    const chosen = all.filter((row) => only.length === 0 || only.includes(row.name));
    return {
      kind: 'run',
      rows: values.small ? [together(chosen)] : chosen,
      small: values.small,
      fromSource: values.source,
      write: values.write,
      keepLogs: values['keep-logs'],
    };
  } catch (error) {
    return { kind: 'wrong', message: error instanceof Error ? error.message : String(error) };
  }
}

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Attack } from './attacks/attack.ts';
import { attacks } from './attacks/attacks.ts';
import { guards } from './guards/guards.ts';
import { openPreviousVersion, type PreviousVersion } from './previous-version.ts';
import type { Row } from './row.ts';
import { together } from './together.ts';

export type ChaosCommand =
  | {
      kind: 'run';
      rows: Row[];
      /** Rows that need the previous version, where the command line does not name it. */
      leftOut: Row[];
      previous: PreviousVersion | undefined;
      small: boolean;
      fromSource: boolean;
      write: boolean;
      keepLogs: boolean;
    }
  | { kind: 'list' }
  | {
      kind: 'attacks';
      attacks: Attack[];
      previous: PreviousVersion | undefined;
      fromSource: boolean;
      write: boolean;
      keepLogs: boolean;
    }
  | {
      kind: 'fuzz';
      seed: number;
      requests: number;
      fromSource: boolean;
      write: boolean;
      keepLogs: boolean;
    }
  | {
      kind: 'order';
      seed: number;
      /** Of the report of an earlier search. */
      path: string | undefined;
      schedules: number;
      fromSource: boolean;
      keepLogs: boolean;
    }
  | { kind: 'guards'; only: string[]; write: boolean; keepLogs: boolean }
  | { kind: 'wrong'; message: string };

export const usage = `npm run chaos -- [options]

  --only name[,name]  runs these rows alone, or with --guards these guards, with --attacks these attacks
  --list              lists the rows
  --guards            removes guards from the apps by injected faults, and expects rows to become red
  --attacks           attacks two receivers while ten projects send genuine webhooks
  --fuzz              sends requests of every wrong kind to one receiver
  --order             searches random schedules of failures, killed processes and servers for one that breaks the order of webhooks
  --schedules N       with --order: how many, 300 when absent
  --seed N            with --fuzz or --order: the seed that determines everything random; any when absent
  --path P            with --order and its --seed: begins with the round that a search has reported
  --requests N        with --fuzz: how many, 20000 when absent
  --small             runs the rows under one load, with fewer webhooks, and judges no time, as npm test does
  --source            starts the apps from their source instead of the build
  --previous FOLDER   a built checkout of the previous version, for rows that upgrade from it; with --attacks, the version
                      that is attacked
  --write             replaces the table in docs/failure-matrix.md, or with --attacks or --fuzz in docs/security.md
  --keep-logs         keeps the logs of apps and servers until the next run, and prints their folder
`;

export function readCommandLine(args: readonly string[], all: readonly Row[]): ChaosCommand {
  try {
    const options = parse(args);
    if (options.list) return { kind: 'list' };
    if (options.attacks) return attackRuns(options);
    if (options.fuzz) return fuzzRun(options);
    if (options.order) return orderSearch(options);
    return options.guards ? guardTrials(options) : rowRuns(options, all);
  } catch (error) {
    return { kind: 'wrong', message: error instanceof Error ? error.message : String(error) };
  }
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      previous: { type: 'string' },
      list: flag,
      guards: flag,
      attacks: flag,
      fuzz: flag,
      order: flag,
      schedules: { type: 'string' },
      seed: { type: 'string' },
      path: { type: 'string' },
      requests: { type: 'string' },
      small: flag,
      source: flag,
      write: flag,
      'keep-logs': flag,
    },
  });
  return { ...values, only: values.only?.split(',') ?? [], keepLogs: values['keep-logs'] };
}

type Options = ReturnType<typeof parse>;

function guardTrials({ only, write, keepLogs }: Options): ChaosCommand {
  checkNames('guard', only, guards);
  return { kind: 'guards', only, write, keepLogs };
}

function attackRuns({ only, previous, source, write, keepLogs }: Options): ChaosCommand {
  checkNames('attack', only, attacks);
  return {
    kind: 'attacks',
    attacks: attacks.filter(({ name }) => only.length === 0 || only.includes(name)),
    previous: previous === undefined ? undefined : openPreviousVersion(previous),
    fromSource: source,
    write,
    keepLogs,
  };
}

function fuzzRun({ seed, requests, source, write, keepLogs }: Options): ChaosCommand {
  return {
    kind: 'fuzz',
    seed: seed === undefined ? randomInt(2 ** 31) : wholeNumber('seed', seed),
    requests: requests === undefined ? 20_000 : wholeNumber('requests', requests),
    fromSource: source,
    write,
    keepLogs,
  };
}

function orderSearch({ seed, path, schedules, source, keepLogs }: Options): ChaosCommand {
  if (path !== undefined && seed === undefined) throw new Error('--path needs the --seed of its report');
  return {
    kind: 'order',
    path,
    fromSource: source,
    keepLogs,
    seed: seed === undefined ? randomInt(2 ** 31) : wholeNumber('seed', seed),
    schedules: schedules === undefined ? 300 : wholeNumber('schedules', schedules),
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${option} takes a whole number`);
  return Number(text);
}

function rowRuns(options: Options, all: readonly Row[]): ChaosCommand {
  const { only, small, source, write, keepLogs } = options;
  const previous = options.previous === undefined ? undefined : openPreviousVersion(options.previous);
  checkNames('row', only, all);
  const named = all.filter((row) => only.length === 0 || only.includes(row.name));
  const canRun = ({ startsPrevious }: Row) => !startsPrevious || (previous !== undefined && !small);
  const chosen = named.filter(canRun);
  if (chosen.length === 0)
    throw new Error(`${only.join(' and ')} needs --previous FOLDER, and runs without --small`);
  return {
    kind: 'run',
    rows: small ? [together(chosen)] : chosen,
    leftOut: named.filter((row) => !canRun(row)),
    previous,
    small,
    fromSource: source,
    write,
    keepLogs,
  };
}

function checkNames(what: string, given: readonly string[], all: readonly { name: string }[]): void {
  const unknown = given.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`there is no ${what} ${unknown.join(' or ')}`);
}

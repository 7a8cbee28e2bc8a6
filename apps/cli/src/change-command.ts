import type { ActionResult, SealingDeps } from '@hqrelay/actions/action';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from './cli.ts';
import { uuid } from './options/options.ts';
import { printResult } from './output/print.ts';
import { actionVariables, performAction } from './perform-action.ts';

type ChangeCommand<Options, T> = {
  verb: string;
  description: string;
  /** The argument that names the changed object: its name in the usage line, and its description. */
  target: readonly [name: string, description: string];
  addOptions?: (command: Command) => Command;
  action: (deps: SealingDeps, id: string, options: Options) => Promise<ActionResult<T>>;
  /** The result for people. */
  sentence: (value: T) => string;
};

export const endpointTarget = ['<endpoint-id>', 'the endpoint'] as const;
export const projectTarget = ['<project-id>', 'the project'] as const;

/** A command that changes the object with this id, and prints it as changed. */
export function changeCommand<T, Options = object>({
  verb,
  description,
  target,
  addOptions = (command) => command,
  action,
  sentence,
}: ChangeCommand<Options, T>): (noun: Command, cli: Cli) => void {
  return (noun, cli) => {
    const command = noun.command(verb).description(description).argument(target[0], target[1], uuid);
    addOptions(command)
      .option('--json', 'print one JSON value')
      .action(async (id: string, options: Options & { json?: boolean }) => {
        const config = loadConfig(actionVariables, cli.env);
        const value = await performAction(cli, config, (deps) => action(deps, id, options));
        printResult(cli, options, value, () => sentence(value));
      });
  };
}

import type { ActionResult, SealingDeps } from '@hqrelay/actions/action';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Cli } from './cli.ts';
import { printResult } from './output/print.ts';
import { actionVariables, performAction } from './perform-action.ts';

/** Runs an action that needs no more than the stores, and prints its value, or the sentence for people. */
export async function performAndPrint<T>(
  cli: Cli,
  options: { json?: boolean },
  action: (deps: SealingDeps) => Promise<ActionResult<T>>,
  sentenceOf: (value: T) => string,
): Promise<void> {
  const config = loadConfig(actionVariables, cli.env);
  const value = await performAction(cli, config, action);
  printResult(cli, options, value, () => sentenceOf(value));
}

import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type { z } from 'zod';
import { type VariableName, variables } from './env-variables.ts';
import type { Variable } from './variable.ts';

type ValueOf<V> = V extends Variable<string, infer Schema, infer Unset> ? z.output<Schema> | Unset : never;

/** The typed config of the variables named `Name`, under their camelCase keys. */
export type Config<Name extends VariableName> = {
  [N in Name as (typeof variables)[N]['key']]: ValueOf<(typeof variables)[N]>;
};

/** All problems of the environment, one sentence each, without the value of any secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The environment is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Parses the named variables. A variable that is set but empty is a problem, never the default.
 * Throws a ConfigError with all problems at once.
 */
export function loadConfig<const Name extends VariableName>(
  names: readonly Name[],
  env: Readonly<Record<string, string | undefined>>,
): Config<Name> {
  const config: Record<string, unknown> = {};
  const problems = new Set<string>();
  for (const asked of names) {
    const { key }: Variable = variables[asked];
    const name = sourceOf(asked, env);
    const { schema, whenUnset, shown }: Variable = variables[name];
    const text = env[name];
    if (text === undefined && 'value' in whenUnset) {
      config[key] = whenUnset.value;
    } else if (text === undefined && 'required' in whenUnset) {
      problems.add(`${name} is required but not set`);
    } else if (text?.trim() === '') {
      problems.add(`${name} is set but empty: give it a value or unset it`);
    } else {
      const result = schema.safeParse(text ?? ('text' in whenUnset ? whenUnset.text : undefined));
      if (result.success) config[key] = result.data;
      else
        problems.add(`${name}: ${sentence(result.error)}${shown === 'value' ? `, not ${quote(text)}` : ''}`);
    }
  }
  if (problems.size > 0) throw new ConfigError([...problems]);
  return config as Config<Name>;
}

/** The variable whose text is taken: the one asked for, or the one that its rule names when it is unset. */
function sourceOf(name: VariableName, env: Readonly<Record<string, string | undefined>>): VariableName {
  const { whenUnset }: Variable = variables[name];
  return env[name] === undefined && 'variable' in whenUnset ? (whenUnset.variable as VariableName) : name;
}

/** The config as it may be logged: secrets as `set` or `unset`, URLs without their password. */
export function describeConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const described: Record<string, unknown> = {};
  for (const { key, shown } of Object.values(variables)) {
    if (!(key in config)) continue;
    const value = config[key];
    if (shown === 'secret') described[key] = value === undefined ? 'unset' : 'set';
    else if (value === undefined) described[key] = 'unset';
    else if (shown === 'url') described[key] = redactUrl([value as string | string[]].flat().join(','));
    else described[key] = value;
  }
  return described;
}

/** For the top of a main: prints a ConfigError's problems on stderr and exits 1; rethrows anything else. */
export function exitOnConfigError(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

function sentence(error: z.ZodError): string {
  return error.issues.map((issue) => issue.message).join('; ');
}

function quote(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 100));
}

import type { Preset } from '@hqrelay/domain/providers/preset';
import { findPreset, presets } from '@hqrelay/domain/providers/presets';
import { type Command, Option } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';
import { parsedBy } from './options.ts';

/** What a project says about its provider, as commander parses it. */
export type ProviderOptions = {
  /** What the provider needs beside the secret, by name. */
  setting?: Record<string, string>;
  /** A file; false removes the scheme. */
  scheme?: string | false;
};

const settingLengthMax = 1_024;

export function providerOption(): Option {
  return new Option('--provider <provider>', 'how the sender signs: see hqrelay provider list')
    .argParser(parsedBy(parseProvider))
    .default(findPreset('generic'), 'generic');
}

export function addProviderOptions(command: Command): Command {
  return command
    .option(
      '--setting <name=value>',
      'what the provider needs beside the secret; repeat it for several',
      (text: string, before: Record<string, string> | undefined) => ({ ...before, ...parseSetting(text) }),
    )
    .option(
      '--scheme <file>',
      "JSON that says how the sender signs, in place of the provider's preset; '-' is stdin",
    );
}

/** Throws RangeError for a name that no provider has. */
export function parseProvider(text: string): Preset {
  const preset = findPreset(text);
  if (preset) return preset;
  const similar = presets.filter(({ name }) => name.startsWith(text.slice(0, 3).toLowerCase()));
  const hint = similar.length > 0 ? `; is it ${similar.map(({ name }) => name).join(' or ')}?` : '';
  throw new RangeError(`there is no provider ${JSON.stringify(text)}: see hqrelay provider list${hint}`);
}

/** The scheme of the options as a setting of the project. Throws UsageError for a file that is not JSON. */
export async function readScheme(cli: Cli, { scheme }: ProviderOptions): Promise<{ scheme?: unknown }> {
  if (scheme === undefined) return {};
  if (scheme === false) return { scheme: null };
  const text = await readInputText(cli, '--scheme', scheme);
  try {
    return { scheme: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(`--scheme ${scheme} is not JSON: ${(error as Error).message}`);
  }
}

function parseSetting(text: string): Record<string, string> {
  const end = text.indexOf('=');
  const [name, value] = [text.slice(0, end), text.slice(end + 1)];
  const isUsable = end > 0 && value !== '' && value.length <= settingLengthMax && !/\p{Cc}/u.test(value);
  if (!isUsable) {
    // The value may be a secret.
    throw new UsageError(
      `--setting: expected NAME=VALUE, with a value of 1 to ${settingLengthMax} characters`,
    );
  }
  return { [name]: value };
}

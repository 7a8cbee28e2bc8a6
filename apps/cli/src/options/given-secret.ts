import type { GivenSecret } from '@hqrelay/actions/sealing/choose-project-secret';
import type { Command } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';

/** The options for a project's secret, as commander parses them. */
export type SecretOptions = { secret?: string; secretFile?: string; allowShortSecret?: boolean };

const lengthMax = 1_024;

export function addSecretOptions(command: Command): Command {
  return command
    .option(
      '--secret <secret>',
      "what the sender signs with, '-' reads it from stdin; 32 random bytes in hex when not given. Others may see it in the process list and the shell's history",
    )
    .option('--secret-file <file>', "a file with the secret; '-' is stdin")
    .option('--allow-short-secret', 'take a secret of less than 16 bytes');
}

/**
 * The secret of the options, undefined when none is given. Throws UsageError for one that cannot be used; no message repeats
 * it.
 */
export async function readGivenSecret(cli: Cli, options: SecretOptions): Promise<GivenSecret | undefined> {
  const value = await readValue(cli, options);
  return value === undefined ? undefined : { value, allowShort: options.allowShortSecret === true };
}

async function readValue(cli: Cli, { secret, secretFile }: SecretOptions): Promise<string | undefined> {
  if (secret !== undefined && secretFile !== undefined) {
    throw new UsageError('--secret and --secret-file cannot be used together: the secret is one of them');
  }
  if (secretFile !== undefined) return readSecretFile(cli, '--secret-file', secretFile);
  if (secret === '-') return readSecretFile(cli, '--secret', secret);
  return secret === undefined ? undefined : checkSecret('--secret', secret);
}

async function readSecretFile(cli: Cli, option: string, file: string): Promise<string> {
  const text = await readInputText(cli, option, file);
  // A public key is stored in one line, without its armour.
  if (/^-----BEGIN [A-Z ]+-----/.test(text)) {
    return checkSecret(option, text.replace(/-----[A-Z ]+-----|\s/g, ''));
  }
  // Editors and echo end a file with a line break.
  return checkSecret(option, text.replace(/\r?\n$/, ''));
}

function checkSecret(option: string, secret: string): string {
  if (secret === '' || secret.length > lengthMax || /\p{Cc}/u.test(secret) || !secret.isWellFormed()) {
    throw new UsageError(
      `${option}: expected 1 to ${lengthMax} characters, none of them a control character`,
    );
  }
  return secret;
}

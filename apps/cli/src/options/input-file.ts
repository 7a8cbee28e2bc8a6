import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Cli, UsageError } from '../cli.ts';

/** The bytes of the file that an option names; `-` is stdin. Throws UsageError when they cannot be read. */
export async function readInputFile(cli: Cli, option: string, file: string): Promise<Buffer> {
  if (file === '-') {
    if (cli.stdin.readableEnded) {
      throw new UsageError(`${option} -: stdin was read already for another option`);
    }
    return buffer(cli.stdin);
  }
  try {
    return await readFile(resolve(cli.directory, file));
  } catch (error) {
    throw new UsageError(`${option} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** The text of the file that an option names. Throws UsageError for bytes that are not UTF-8. */
export async function readInputText(cli: Cli, option: string, file: string): Promise<string> {
  const bytes = await readInputFile(cli, option, file);
  if (!isUtf8(bytes)) throw new UsageError(`${option} ${file} is not UTF-8 text`);
  return bytes.toString('utf8');
}

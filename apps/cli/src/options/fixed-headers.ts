import { type Command, Option } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';

/** An endpoint's fixed headers, as commander parses them. */
export type HeaderOptions = {
  /** `Name: value` each; false removes them. */
  header?: string[] | false;
  headerFile?: string;
};

export function addHeaderOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--header <header>',
        "a fixed header, 'Name: value', may be given several times; '-' reads them from stdin. Others may see it in the process list and the shell's history",
      ).argParser((text: string, before: string[] | false | undefined) => [...(before || []), text]),
    )
    .option('--header-file <file>', "a file with fixed headers, one a line; '-' is stdin");
}

/**
 * The headers of the options: undefined when none is given, empty when they are removed. Throws UsageError,
 * which never repeats a value: most are credentials.
 */
export async function readFixedHeaders(
  cli: Cli,
  { header, headerFile }: HeaderOptions,
): Promise<[string, string][] | undefined> {
  if (header === false) {
    if (headerFile !== undefined)
      throw new UsageError('--no-header and --header-file cannot be used together');
    return [];
  }
  if (header === undefined && headerFile === undefined) return undefined;
  const lines: string[] = [];
  for (const text of header ?? []) {
    if (text === '-') lines.push(...(await readLines(cli, '--header', text)));
    else lines.push(text);
  }
  if (headerFile !== undefined) lines.push(...(await readLines(cli, '--header-file', headerFile)));
  return lines.map(parseHeader);
}

async function readLines(cli: Cli, option: string, file: string): Promise<string[]> {
  const text = await readInputText(cli, option, file);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0)
    throw new UsageError(`${option} ${file} has no header: expected 'Name: value' lines`);
  return lines;
}

function parseHeader(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new UsageError("--header: expected 'Name: value'");
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

import { type Command, Option } from 'commander';
import { connectionHeaders } from '@hqrelay/domain/connection-headers';
import { type Cli, UsageError } from '../cli.ts';
import { readInputText } from './input-file.ts';

/** An endpoint's fixed headers, as commander parses them. */
export type HeaderOptions = {
  /** `Name: value` each; false removes them. */
  header?: string[] | false;
  headerFile?: string;
};

const headersMax = 20;
const valueLengthMax = 4_096;
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

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
  return parseHeaders(lines);
}

async function readLines(cli: Cli, option: string, file: string): Promise<string[]> {
  const text = await readInputText(cli, option, file);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0)
    throw new UsageError(`${option} ${file} has no header: expected 'Name: value' lines`);
  return lines;
}

function parseHeaders(texts: readonly string[]): [string, string][] {
  if (texts.length > headersMax) throw new UsageError(`--header: at most ${headersMax} are possible`);
  const names = new Set<string>();
  return texts.map((text) => {
    const colon = text.indexOf(':');
    const name = text.slice(0, Math.max(colon, 0)).trim();
    const value = text.slice(colon + 1).trim();
    if (!token.test(name)) throw new UsageError(`--header: expected 'Name: value' with a valid header name`);
    const lowerCaseName = name.toLowerCase();
    const problem = names.has(lowerCaseName) ? 'is given twice' : headerProblem(lowerCaseName, value);
    if (problem) throw new UsageError(`--header ${name} ${problem}`);
    names.add(lowerCaseName);
    return [name, value];
  });
}

function headerProblem(lowerCaseName: string, value: string): string | null {
  if (connectionHeaders.has(lowerCaseName)) return 'belongs to the connection and cannot be fixed';
  if (/^(hqrelay-)?webhook-|^x-hqrelay-|^x-correlation-id$/.test(lowerCaseName)) {
    return "has a name that only the relay's own headers have";
  }
  if (value === '' || value.length > valueLengthMax || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    return `has no usable value: expected 1 to ${valueLengthMax} Latin-1 characters, no control characters`;
  }
  return null;
}

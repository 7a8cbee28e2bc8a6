import { run } from '../../apps/cli/src/program.ts';

export type CommandLine = <Answer>(...argv: string[]) => Promise<Answer>;

/** Runs `hqrelay …` in this process and returns the value that `--json` prints. Throws the text of its stderr. */
export function commandLine(env: Record<string, string>): CommandLine {
  return async <Answer>(...argv: string[]) => {
    let printed = '';
    let errorText = '';
    const exitCode = await run([...argv, '--json'], {
      env,
      directory: process.cwd(),
      stdin: process.stdin,
      print: (text) => (printed += text),
      warn: (text) => (errorText += text),
    });
    if (exitCode !== 0) throw new Error(`hqrelay ${argv[0]}: ${errorText.replace(/^error: /, '').trim()}`);
    return JSON.parse(printed) as Answer;
  };
}

import { run } from '../../apps/cli/src/program.ts';

export type CommandLine = <Answer>(...argv: string[]) => Promise<Answer>;

/** Runs `npm run hqrelay -- …` in this process and returns what `--json` prints. Throws what it says on stderr. */
export function commandLine(env: Record<string, string>): CommandLine {
  return async <Answer>(...argv: string[]) => {
    let printed = '';
    let complaint = '';
    const exitCode = await run([...argv, '--json'], {
      env,
      directory: process.cwd(),
      stdin: process.stdin,
      print: (text) => (printed += text),
      warn: (text) => (complaint += text),
    });
    if (exitCode !== 0) throw new Error(`hqrelay ${argv[0]}: ${complaint.replace(/^error: /, '').trim()}`);
    return JSON.parse(printed) as Answer;
  };
}

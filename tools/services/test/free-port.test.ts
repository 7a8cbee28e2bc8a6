import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePorts } from '../src/free-port.ts';

const source = fileURLToPath(new URL('../src/free-port.ts', import.meta.url));

/** So many ports that two processes which choose at random have some in common. */
const many = 300;

test.runIf(process.platform === 'linux')(
  'two processes that ask for free ports at the same time get different ones',
  async () => {
    const program = `import { freePorts } from ${JSON.stringify(source)};
      console.log(JSON.stringify(await freePorts(${many})));
      process.exit(0);`;
    const ours = await freePorts(many);
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      program,
    ]);
    const theirs = JSON.parse(stdout) as number[];
    expect(theirs).toHaveLength(many);
    expect(theirs.filter((port) => ours.includes(port))).toEqual([]);
  },
);

// `npm run verify`: everything that can be checked without services, side by side, one line per check.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Check {
  name: string;
  args: string[];
}

const root = fileURLToPath(new URL('../', import.meta.url));
const tool = (name: string) => `node_modules/.bin/${name}`;
const script = (path: string) => ['--conditions=@hqrelay/source', '--import', 'tsx', path];

const prettierCache = [
  '--cache',
  '--cache-strategy=content',
  '--cache-location=node_modules/.cache/hqrelay/prettier',
];

const checks: readonly Check[] = [
  { name: 'format', args: [tool('prettier'), '--check', '--log-level=warn', ...prettierCache, '.'] },
  { name: 'lint', args: [tool('oxlint')] },
  { name: 'types', args: [tool('tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'types of the pages', args: [tool('tsc'), '-p', 'apps/console/web/tsconfig.json'] },
  {
    name: 'unused code',
    args: [tool('knip'), '--no-progress', '--no-config-hints', '-t', 'tsconfig.build.json'],
  },
  { name: 'structure', args: script('tools/check-structure.ts') },
  { name: 'docs', args: script('tools/check-docs.ts') },
  { name: 'config docs', args: [...script('tools/generate-config-docs.ts'), '--check'] },
  { name: 'provider docs', args: [...script('tools/generate-provider-docs.ts'), '--check'] },
  { name: 'dashboards', args: [...script('tools/dashboards/main.ts'), '--check'] },
];

const passed = await Promise.all(checks.map(report));
if (passed.includes(false)) process.exitCode = 1;

async function report({ name, args }: Check): Promise<boolean> {
  const startedAt = performance.now();
  const { code, output } = await run(args);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const ok = code === 0;
  process.stdout.write(`${ok ? '✓' : '✗'} ${name} (${seconds} s)\n${ok ? '' : output.trimEnd() + '\n\n'}`);
  return ok;
}

function run(args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const append = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', append);
    child.stderr.on('data', append);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

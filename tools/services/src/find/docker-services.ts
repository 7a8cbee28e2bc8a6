import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Say } from '../servers/debian-packages.ts';
import type { ServiceName } from '../private-services.ts';

/** The compose command of a Docker engine that answers; undefined when there is none. */
export function findCompose(): readonly string[] | undefined {
  const works = ([command, ...args]: readonly string[]) =>
    spawnSync(command as string, args, { stdio: 'ignore', timeout: 10_000 }).status === 0;
  if (!works(['docker', 'info'])) return undefined;
  if (works(['docker', 'compose', 'version'])) return ['docker', 'compose'];
  return works(['docker-compose', 'version']) ? ['docker-compose'] : undefined;
}

/** The stores, with their ports open on this machine. */
const files = ['-f', 'docker-compose.yml', '-f', 'docker-compose.ports.yml'];

/** Starts services of `docker-compose.yml` and waits until they are healthy. Returns a function that stops them. When one does not get healthy, stops all and throws. */
export async function startWithCompose(
  compose: readonly string[],
  services: readonly ServiceName[],
  options: { root: string; env: Record<string, string>; say: Say },
): Promise<() => Promise<void>> {
  const run = (args: readonly string[]) => runCompose([...compose, ...files, ...args], options);
  const stop = () => run(['stop', ...services]);
  try {
    await run(['up', '-d', ...services]);
    const deadline = Date.now() + 120_000;
    for (const service of services) {
      while (!isHealthy(compose, service, options.root, options.env)) {
        if (Date.now() > deadline)
          throw new Error(`the container of ${service} was not healthy within 120 s`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  } catch (error) {
    // The first error is the one to report.
    await stop().catch(() => {});
    throw error;
  }
  return stop;
}

function isHealthy(
  compose: readonly string[],
  service: string,
  cwd: string,
  env: Record<string, string>,
): boolean {
  const [command, ...args] = compose;
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 10_000 } as const;
  const id = spawnSync(command as string, [...args, ...files, 'ps', '-q', service], options).stdout.trim();
  if (id === '') return false;
  const state = spawnSync('docker', ['inspect', '-f', '{{.State.Health.Status}}', id], options).stdout;
  return state.trim() === 'healthy';
}

async function runCompose(
  [command, ...args]: readonly string[],
  { root, env, say }: { root: string; env: Record<string, string>; say: Say },
): Promise<void> {
  const child = spawn(command as string, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (line.trim() !== '') say(`  ${line.trim()}`);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed (${code}):\n${lines.slice(-10).join('\n')}`);
}

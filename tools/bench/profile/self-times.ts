import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';

/** µs of CPU by what used it. */
export type SelfTimes = Map<string, number>;

/** The self times of a profile by area (a module of Node, a dependency, a folder of ours), without the time in which it was idle. */
export function timesByArea(profile: Profiler.Profile): SelfTimes {
  return sum(profile, ({ functionName, url }) => areaOf(functionName, url));
}

/** The self times by function. */
export function timesByFunction(profile: Profiler.Profile): SelfTimes {
  return sum(profile, ({ functionName, url, lineNumber }) => {
    const area = areaOf(functionName, url);
    if (url === '') return area === '(native)' ? `${functionName.slice(0, 30)} (native)` : area;
    return `${functionName || '(anonymous)'} ${area}${url.startsWith('file:') ? `:${lineNumber + 1}` : ''}`;
  });
}

function sum(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  nameOf: (frame: Profiler.ProfileNode['callFrame']) => string,
): SelfTimes {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times: SelfTimes = new Map();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '(unknown)';
    if (name !== '(idle)') times.set(name, (times.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  return times;
}

/** `node:net`, `amqplib`, `@hqrelay/queue`, `receiver/ingest`, or V8's own, such as `(garbage collector)`. */
function areaOf(functionName: string, url: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (url.startsWith('node:')) return url.replace(/^node:internal\/(\w+).*/, 'node:$1');
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const dependency = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (dependency && !dependency.startsWith('@hqrelay/')) return dependency;
  const own = /(?:apps|packages)\/(\w+)\/dist\/(.*)\.m?js$/.exec(path);
  return own ? `${own[1]}/${own[2]}` : path.split('/').slice(-2).join('/');
}

import type { CommandLine } from './command-line.ts';
import { type DemoEndpoint, startDemoEndpoint } from './demo-endpoint.ts';

const demoName = 'demo';
/** The event type of the flaky endpoint. */
export const flakyEventType = 'hqrelay.flaky';

type Project = { id: string; name: string; enabled: boolean };
type Endpoint = { id: string; url: string; enabled: boolean; paused: boolean };

export type Demo = { projectId: string; endpoint: DemoEndpoint; isNew: boolean };

const paths = {
  '/demo': [],
  '/demo/flaky': ['--events', flakyEventType, '--retry', '1s,1s'],
} as const;

/** The project and the endpoints that the demo's webhooks go through: those of an earlier run, or new ones. */
export async function prepareDemo(hqrelay: CommandLine, say: (line: string) => void): Promise<Demo> {
  const projects = await hqrelay<Project[]>('project', 'list');
  const known = projects.find((project) => project.name === demoName && project.enabled);
  const projectId =
    known?.id ?? (await hqrelay<{ projectId: string }>('project', 'create', '--name', demoName)).projectId;

  const endpoints = known ? await hqrelay<Endpoint[]>('endpoint', 'list', '--project', projectId) : [];
  const before = endpoints.find(({ url }) => isDemoUrl(url, '/demo'));
  const endpoint = await startDemoEndpoint(before ? Number(new URL(before.url).port) : 0, say);
  for (const [path, options] of Object.entries(paths)) {
    const url = `${endpoint.origin}${path}`;
    const there = endpoints.find((each) => isDemoUrl(each.url, path));
    if (!there) await hqrelay('endpoint', 'add', '--project', projectId, '--url', url, ...options);
    else {
      if (there.url !== url) await hqrelay('endpoint', 'update', there.id, '--url', url);
      if (!there.enabled) await hqrelay('endpoint', 'enable', there.id);
      if (there.paused) await hqrelay('endpoint', 'resume', there.id);
    }
  }
  return { projectId, endpoint, isNew: !known };
}

function isDemoUrl(url: string, path: string): boolean {
  const { protocol, hostname, pathname } = new URL(url);
  return protocol === 'http:' && hostname === '127.0.0.1' && pathname === path;
}

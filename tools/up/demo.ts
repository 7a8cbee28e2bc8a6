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

/** The project and the endpoints of the demo: those of an earlier run, or new ones. */
export async function prepareDemo(hqrelay: CommandLine, say: (line: string) => void): Promise<Demo> {
  const projects = await hqrelay<Project[]>('project', 'list');
  const earlier = projects.find((project) => project.name === demoName && project.enabled);
  const projectId =
    earlier?.id ?? (await hqrelay<{ projectId: string }>('project', 'create', '--name', demoName)).projectId;

  const endpoints = earlier ? await hqrelay<Endpoint[]>('endpoint', 'list', '--project', projectId) : [];
  const demo = endpoints.find(({ url }) => isDemoUrl(url, '/demo'));
  const endpoint = await startDemoEndpoint(demo ? Number(new URL(demo.url).port) : 0, say);
  for (const [path, options] of Object.entries(paths)) {
    const url = `${endpoint.origin}${path}`;
    const existing = endpoints.find((each) => isDemoUrl(each.url, path));
    if (!existing) await hqrelay('endpoint', 'add', '--project', projectId, '--url', url, ...options);
    else {
      if (existing.url !== url) await hqrelay('endpoint', 'update', existing.id, '--url', url);
      if (!existing.enabled) await hqrelay('endpoint', 'enable', existing.id);
      if (existing.paused) await hqrelay('endpoint', 'resume', existing.id);
    }
  }
  return { projectId, endpoint, isNew: !earlier };
}

function isDemoUrl(url: string, path: string): boolean {
  const { protocol, hostname, pathname } = new URL(url);
  return protocol === 'http:' && hostname === '127.0.0.1' && pathname === path;
}

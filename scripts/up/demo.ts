import type { CommandLine } from './command-line.ts';
import { type DemoEndpoint, startDemoEndpoint } from './demo-endpoint.ts';

const demoName = 'demo';

type Project = { id: string; name: string; enabled: boolean };
type Endpoint = { id: string; url: string; enabled: boolean; paused: boolean };

export type Demo = { projectId: string; endpoint: DemoEndpoint; isNew: boolean };

/** The project and endpoint that the demo webhook goes through: those of an earlier run, or new ones. */
export async function prepareDemo(hqrelay: CommandLine, say: (line: string) => void): Promise<Demo> {
  const projects = await hqrelay<Project[]>('project', 'list');
  const known = projects.find((project) => project.name === demoName && project.enabled);
  const projectId =
    known?.id ?? (await hqrelay<{ projectId: string }>('project', 'create', '--name', demoName)).projectId;

  const endpoints = known ? await hqrelay<Endpoint[]>('endpoint', 'list', '--project', projectId) : [];
  const before = endpoints.find(({ url }) => /^http:\/\/127\.0\.0\.1:\d+\/demo$/.test(url));
  const endpoint = await startDemoEndpoint(before ? Number(new URL(before.url).port) : 0, say);
  if (!before) await hqrelay('endpoint', 'add', '--project', projectId, '--url', endpoint.url);
  else {
    if (before.url !== endpoint.url) await hqrelay('endpoint', 'update', before.id, '--url', endpoint.url);
    if (!before.enabled) await hqrelay('endpoint', 'enable', before.id);
    if (before.paused) await hqrelay('endpoint', 'resume', before.id);
  }
  return { projectId, endpoint, isNew: !known };
}

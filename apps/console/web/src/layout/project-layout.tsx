import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { read } from '../api/read.ts';
import { BrokenChannels } from '../alerts/broken-channels.tsx';
import { Tag } from '../components/tag.tsx';

const tab =
  'border-b-2 border-transparent px-3 py-2.5 text-sm font-medium whitespace-nowrap text-muted no-underline hover:text-ink';
const tabProps = { className: tab, activeProps: { className: 'border-accent! text-ink!' } } as const;

const sections = [
  ['/projects/$projectId/webhooks', 'Webhooks'],
  ['/projects/$projectId/endpoints', 'Endpoints'],
  ['/projects/$projectId/dead-letters', 'Dead letters'],
  ['/projects/$projectId/insights', 'Insights'],
  ['/projects/$projectId/alerts', 'Alerts'],
  ['/projects/$projectId/settings', 'Settings'],
] as const;

/** The name of the project and its sections, over each of its pages. */
export function ProjectLayout() {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId' });
  const { data: project } = useQuery(read('get /api/v1/projects/{projectId}', { params: { projectId } }));
  return (
    <>
      <div className="-mx-3 mb-5 border-b border-line px-3 pt-3 sm:-mx-4 sm:px-4">
        <nav aria-label="Project">
          <p className="m-0 flex min-h-6 items-center gap-2 px-3 font-semibold">
            {project?.name ?? ' '}
            {project?.enabled === false && <Tag tone="bad">disabled</Tag>}
            {project && project.archivedAt !== null && <Tag>archived</Tag>}
          </p>
          <SectionTabs projectId={projectId} />
        </nav>
      </div>
      <main>
        <BrokenChannels projectId={projectId} />
        <Outlet />
      </main>
    </>
  );
}

function SectionTabs({ projectId }: { projectId: string }) {
  const params = { projectId };
  const tabs = useRef<HTMLDivElement>(null);
  const section = useLocation({ select: ({ pathname }) => pathname.split('/')[3] });
  useEffect(() => {
    if (section === undefined) return;
    // On a phone the tabs scroll sideways.
    const active = tabs.current?.querySelector('[aria-current="page"]');
    active?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [section]);
  return (
    <div ref={tabs} className="flex overflow-x-auto">
      <Link to="/projects/$projectId" params={params} {...tabProps} activeOptions={{ exact: true }}>
        Overview
      </Link>
      {sections.map(([to, label]) => (
        <Link key={to} to={to} params={params} {...tabProps}>
          {label}
        </Link>
      ))}
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Project } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Card, PageHead } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { useMe } from '../layout/me.ts';
import { ProviderGuide } from './provider-guide.tsx';
import { Accepting } from './accepting.tsx';
import { ProjectLimits } from './limits/project-limits.tsx';
import { Secrets } from './secrets.tsx';

export function SettingsPage() {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/settings' });
  const project = useQuery(read('get /api/v1/projects/{projectId}', { params: { projectId } }));
  return (
    <>
      <PageHead title="Settings" />
      <Shown query={project}>{(found) => <Settings project={found} />}</Shown>
    </>
  );
}

function Settings({ project }: { project: Project }) {
  const { may } = useMe();
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
      <div className="grid grid-cols-1 gap-4">
        <Card title="Webhook URL">
          <div className="flex items-start justify-between gap-2">
            <code className="font-mono text-xs break-all">{project.webhookUrl}</code>
            <CopyButton text={project.webhookUrl} look="plain" />
          </div>
          <p className="mb-0 text-muted">The provider posts here.</p>
        </Card>
        <ProviderGuide project={project} />
        {may('admin') && (
          <Card title="Access">
            <Link to="/access" className="text-accent underline">
              API keys and sessions
            </Link>
          </Card>
        )}
        <Card title="Changes">
          <Link to="/admin-log" search={{ projectId: project.id }} className="text-accent underline">
            The admin log of this project
          </Link>
        </Card>
      </div>
      <div className="grid grid-cols-1 gap-4">
        <Secrets projectId={project.id} />
        <ProjectLimits project={project} />
        <Accepting project={project} />
      </div>
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { RelativeTime } from '../display/zone.tsx';

export function ProjectsPage() {
  const projects = useQuery({ ...read('get /api/v1/projects', { query: { limit: '200' } }), ...keepRows });
  return (
    <main className="pt-5">
      <PageHead title="Projects" />
      <Shown query={projects}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no project yet" />
          ) : (
            <ul className="m-0 grid list-none gap-2 p-0">
              {items.map((project) => (
                <li key={project.id}>
                  <Link to="/projects/$projectId" params={{ projectId: project.id }}>
                    {project.name}
                  </Link>
                  {!project.enabled && <Tag tone="bad">disabled</Tag>}
                  {project.lastReceivedAt && <RelativeTime at={project.lastReceivedAt} />}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </main>
  );
}

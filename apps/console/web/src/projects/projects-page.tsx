import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { RowList } from '../components/row-list.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { useMe } from '../layout/me.ts';
import { CreateProject } from './create-project.tsx';
import { ProjectRow } from './project-row.tsx';

/** Every project, with its last 24 hours in the same answer. */
export function ProjectsPage() {
  const { may } = useMe();
  const { cursor } = useSearch({ from: '/signed-in/' });
  const navigate = useNavigate({ from: '/' });
  const query = { limit: '50', include: 'statistics' as const, ...(cursor !== undefined && { cursor }) };
  const projects = useQuery({
    ...read('get /api/v1/projects', { query }),
    ...keepRows,
    refetchInterval: 60_000,
  });
  const goTo = (next: string | undefined) => void navigate({ search: { cursor: next } });
  return (
    <main className="pt-5">
      <PageHead title="Projects" actions={may('admin') && <CreateProject />} />
      <Shown query={projects}>
        {({ items, ...page }) => (
          <>
            {items.length === 0 ? (
              <Empty title="There is no project yet">
                A project is one customer: how it signs, its limits and its endpoints.
              </Empty>
            ) : (
              <RowList>
                {items.map((project) => (
                  <ProjectRow key={project.id} project={project} />
                ))}
              </RowList>
            )}
            <Pager page={page} cursor={cursor} goTo={goTo} />
          </>
        )}
      </Shown>
    </main>
  );
}

import { Navigate } from '@tanstack/react-router';
import { useMe } from '../layout/me.ts';
import { ProjectsPage } from './projects-page.tsx';

/** A reader of one project alone starts there. */
export function HomePage() {
  const { me } = useMe();
  if (me === undefined) return null;
  return me.projectId === null ? (
    <ProjectsPage />
  ) : (
    <Navigate to="/projects/$projectId" params={{ projectId: me.projectId }} replace />
  );
}

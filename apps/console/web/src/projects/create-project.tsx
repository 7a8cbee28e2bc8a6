import { lazy, Suspense } from 'react';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { Loading } from '../components/states.tsx';

// The table of providers is no part of the first load.
const CreateProjectForm = lazy(async () => ({
  default: (await import('./create-project-form.tsx')).CreateProjectForm,
}));

export function CreateProject() {
  return (
    <DialogButton look="primary" label="Create a project" title="Create a project">
      {(close) => (
        <Suspense fallback={<Loading />}>
          <CreateProjectForm close={close} />
        </Suspense>
      )}
    </DialogButton>
  );
}

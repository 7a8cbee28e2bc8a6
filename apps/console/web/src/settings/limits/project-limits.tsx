import { useState } from 'react';
import type { Project } from '../../api/entities.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../components/button.tsx';
import { FormError } from '../../components/field.tsx';
import { Card } from '../../components/page.tsx';
import { useMe } from '../../layout/me.ts';
import { changesOf, fieldsOf } from './limit-fields.ts';
import { DuplicateInputs, LimitInputs } from './limit-inputs.tsx';

/** The name of the project and its limits. */
export function ProjectLimits({ project }: { project: Project }) {
  const { may } = useMe();
  const before = fieldsOf(project);
  const [fields, setFields] = useState(before);
  const { mutate, error, isPending } = useAction('patch /api/v1/projects/{projectId}', {
    changes: ['get /api/v1/projects/{projectId}', 'get /api/v1/projects'],
    showsError: true,
    done: () => 'Saved: it holds everywhere within a second',
  });
  const set = (changed: Partial<typeof fields>) => setFields({ ...fields, ...changed });
  const body = changesOf(before, fields);
  return (
    <Card title="Limits">
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ params: { projectId: project.id }, body });
        }}
      >
        <fieldset disabled={!may('admin')} className="m-0 grid min-w-0 grid-cols-1 gap-4 border-0 p-0">
          <LimitInputs fields={fields} set={set} />
          <DuplicateInputs fields={fields} set={set} />
          <FormError error={error} />
          {may('admin') && (
            <Button
              type="submit"
              look="primary"
              className="justify-self-start"
              busy={isPending}
              disabled={Object.keys(body).length === 0}
            >
              Save
            </Button>
          )}
        </fieldset>
      </form>
    </Card>
  );
}

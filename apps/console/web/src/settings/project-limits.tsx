import { useState } from 'react';
import type { Project } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { CheckField, FormError, SelectField, TextField } from '../components/field.tsx';
import { Card } from '../components/page.tsx';
import { useMe } from '../layout/me.ts';

/** Name and limits. Only what was changed is sent. */
export function ProjectLimits({ project }: { project: Project }) {
  const { may } = useMe();
  const before = {
    name: project.name,
    rateLimit: project.rateLimitPerMinute === null ? '' : String(project.rateLimitPerMinute),
    onConflict: project.onConflict,
    sameBody: project.sameBody,
    enabled: project.enabled,
  };
  const [fields, setFields] = useState(before);
  const set = (changed: Partial<typeof before>) => setFields({ ...fields, ...changed });
  const { mutate, error, isPending } = useAction('patch /api/v1/projects/{projectId}', {
    changes: ['get /api/v1/projects/{projectId}', 'get /api/v1/projects'],
    showsError: true,
    done: () => 'Saved: it holds everywhere within a second',
  });
  const { rateLimit, ...others } = fields;
  const body = {
    ...changed(before, others),
    ...(rateLimit !== before.rateLimit && {
      rateLimitPerMinute: rateLimit.trim() === '' ? null : Number(rateLimit),
    }),
  };
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
          <TextField
            label="Name"
            required
            maxLength={200}
            value={fields.name}
            onChange={({ target }) => set({ name: target.value })}
          />
          <TextField
            label="Webhooks per minute"
            hint="Empty is unlimited. Over it the answer is 429, and the provider tries again."
            type="number"
            min={1}
            max={1_000_000}
            value={rateLimit}
            onChange={({ target }) => set({ rateLimit: target.value })}
          />
          <SelectField
            label="An id that comes again with another body"
            value={fields.onConflict}
            onChange={({ target }) => set({ onConflict: target.value as Project['onConflict'] })}
          >
            <option value="reject">is refused (409)</option>
            <option value="duplicate">is a duplicate</option>
          </SelectField>
          <SelectField
            label="A body that comes again under another id"
            value={fields.sameBody}
            onChange={({ target }) => set({ sameBody: target.value as Project['sameBody'] })}
          >
            <option value="accept">is a new webhook</option>
            <option value="duplicate">is a duplicate</option>
          </SelectField>
          <CheckField
            label="Accept webhooks"
            hint="Off, every webhook of this project is refused."
            checked={fields.enabled}
            onChange={({ target }) => set({ enabled: target.checked })}
          />
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

function changed<T extends object>(before: T, after: Partial<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof T] !== value),
  ) as Partial<T>;
}

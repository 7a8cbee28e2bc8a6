import { useState } from 'react';
import type { Me } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { ShownOnce } from '../components/dialog/shown-once.tsx';
import { CheckField, FormError, SelectField, TextField } from '../components/field.tsx';
import { ProjectField } from './project-field.tsx';

type Fields = { name: string; role: Me['role']; projectId: string; days: string; hidePayloads: boolean };

const empty: Fields = { name: '', role: 'viewer', projectId: '', days: '90', hidePayloads: false };
const daySeconds = 86_400;

export function CreateApiKey() {
  return (
    <DialogButton small label="Create a key" title="Create an API key">
      {(close) => <Creating close={close} />}
    </DialogButton>
  );
}

function Creating({ close }: { close: () => void }) {
  const [fields, setFields] = useState(empty);
  const { mutate, data, error, isPending } = useAction('post /api/v1/api-keys', {
    changes: ['get /api/v1/api-keys'],
    showsError: true,
  });
  if (data) return <ShownOnce label="API key" secret={data.apiKey} close={close} />;
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ body: bodyOf(fields) });
      }}
    >
      <KeyFields fields={fields} set={(changed) => setFields({ ...fields, ...changed })} />
      <FormError error={error} />
      <FormButtons submitLabel="Create it" cancel={close} busy={isPending} />
    </form>
  );
}

function bodyOf({ name, role, projectId, days, hidePayloads }: Fields) {
  return {
    name,
    role,
    expiresInSeconds: Number(days) * daySeconds,
    ...(projectId !== '' && { projectId }),
    ...(hidePayloads && { hidePayloads }),
  };
}

function KeyFields({ fields, set }: { fields: Fields; set: (changed: Partial<Fields>) => void }) {
  return (
    <>
      <TextField
        label="Name"
        hint="Of the program that uses it, for this list."
        required
        maxLength={200}
        value={fields.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <SelectField
        label="Role"
        value={fields.role}
        onChange={({ target }) => set({ role: target.value as Me['role'] })}
      >
        <option value="viewer">viewer: reads</option>
        <option value="operator">operator: also replays, and changes endpoints</option>
        <option value="admin">admin: everything</option>
      </SelectField>
      <ProjectField value={fields.projectId} onChange={(projectId) => set({ projectId })} />
      <SelectField
        label="Ends after"
        value={fields.days}
        onChange={({ target }) => set({ days: target.value })}
      >
        <option value="30">30 days</option>
        <option value="90">90 days</option>
        <option value="365">a year</option>
      </SelectField>
      <CheckField
        label="Hide payloads"
        checked={fields.hidePayloads}
        onChange={({ target }) => set({ hidePayloads: target.checked })}
      />
    </>
  );
}

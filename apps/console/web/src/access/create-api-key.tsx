import { useState } from 'react';
import type { Me } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { CheckField, FormError, SelectField, TextField } from '../components/field.tsx';
import { SecretOnce } from '../components/secret-once.tsx';

const daySeconds = 86_400;

export function CreateApiKey() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Create a key
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="Create an API key">
        <Creating close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Creating({ close }: { close: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Me['role']>('viewer');
  const [days, setDays] = useState('90');
  const [hidePayloads, setHidePayloads] = useState(false);
  const { mutate, data, error, isPending } = useAction('post /api/v1/api-keys', {
    changes: ['get /api/v1/api-keys'],
    showsError: true,
  });
  if (data) {
    return (
      <div className="grid gap-4">
        <SecretOnce label="API key" secret={data.apiKey} />
        <Button look="primary" className="justify-self-end" onClick={close}>
          I have copied it
        </Button>
      </div>
    );
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const body = { name, role, expiresInSeconds: Number(days) * daySeconds };
        mutate({ body: { ...body, ...(hidePayloads && { hidePayloads }) } });
      }}
    >
      <TextField
        label="Name"
        hint="Of the program that uses it. It is the actor in the admin log."
        required
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField label="Role" value={role} onChange={({ target }) => setRole(target.value as Me['role'])}>
        <option value="viewer">viewer: reads</option>
        <option value="operator">operator: also replays, and changes endpoints</option>
        <option value="admin">admin: everything</option>
      </SelectField>
      <SelectField label="Ends after" value={days} onChange={({ target }) => setDays(target.value)}>
        <option value="30">30 days</option>
        <option value="90">90 days</option>
        <option value="365">a year</option>
      </SelectField>
      <CheckField
        label="Hide payloads"
        checked={hidePayloads}
        onChange={({ target }) => setHidePayloads(target.checked)}
      />
      <FormError error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={isPending}>
          Create it
        </Button>
      </div>
    </form>
  );
}

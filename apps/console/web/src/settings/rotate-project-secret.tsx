import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FormError, SelectField, TextField } from '../components/field.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { Time } from '../display/zone.tsx';

export function RotateProjectSecret({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Rotate …
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="A new secret for the project"
        description="The old one verifies too until the overlap ends, so that the provider can change at any moment."
      >
        <Rotating projectId={projectId} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Rotating({ projectId, close }: { projectId: string; close: () => void }) {
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState('86400');
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects/{projectId}/secrets', {
    changes: ['get /api/v1/projects/{projectId}/secrets'],
    showsError: true,
  });
  if (data) {
    return (
      <div className="grid gap-4">
        <SecretOnce label="New secret" secret={data.secret} />
        <p className="m-0 text-muted">
          Give it to the provider. The old one verifies until <Time at={data.overlapEndsAt} />.
        </p>
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
        mutate({
          params: { projectId },
          body: { overlapSeconds: Number(overlap), ...(secret !== '' && { secret }) },
        });
      }}
    >
      <TextField
        label="Secret"
        hint="Where the provider makes the secret, paste it. Empty makes a random one."
        autoComplete="off"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
      />
      <SelectField label="Overlap" value={overlap} onChange={({ target }) => setOverlap(target.value)}>
        <option value="0">none: the old secret has leaked</option>
        <option value="3600">1 hour</option>
        <option value="86400">24 hours</option>
        <option value="604800">7 days</option>
      </SelectField>
      <FormError error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={isPending}>
          Rotate
        </Button>
      </div>
    </form>
  );
}

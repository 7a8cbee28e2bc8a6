import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { ShownOnce } from '../components/dialog/shown-once.tsx';
import { FormError, TextField } from '../components/field.tsx';
import { OverlapField } from '../components/overlap-field.tsx';
import { Time } from '../display/zone.tsx';

type Props = { projectId: string; close: () => void };

export function RotateProjectSecret({ projectId }: { projectId: string }) {
  return (
    <DialogButton
      small
      label="Rotate …"
      title="A new secret for the project"
      description="The old one verifies too until the overlap ends, so that the provider can change at any moment."
    >
      {(close) => <Rotating projectId={projectId} close={close} />}
    </DialogButton>
  );
}

function Rotating({ projectId, close }: Props) {
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState('86400');
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects/{projectId}/secrets', {
    changes: ['get /api/v1/projects/{projectId}/secrets'],
    showsError: true,
  });
  if (data) {
    return (
      <ShownOnce label="New secret" secret={data.secret} close={close}>
        <p className="m-0 text-muted">
          Give it to the provider. The old one verifies until <Time at={data.overlapEndsAt} />.
        </p>
      </ShownOnce>
    );
  }
  const body = { overlapSeconds: Number(overlap), ...(secret !== '' && { secret }) };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params: { projectId }, body });
      }}
    >
      <TextField
        label="Secret"
        hint="Where the provider makes the secret, paste it. Empty makes a random one."
        autoComplete="off"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
      />
      <OverlapField value={overlap} onChange={setOverlap} />
      <FormError error={error} />
      <FormButtons submitLabel="Rotate" cancel={close} busy={isPending} />
    </form>
  );
}

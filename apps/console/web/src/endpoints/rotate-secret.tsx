import { useState } from 'react';
import type { Endpoint } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { ShownOnce } from '../components/dialog/shown-once.tsx';
import { FormError } from '../components/field.tsx';
import { OverlapField } from '../components/overlap-field.tsx';
import { Time } from '../display/zone.tsx';

const operation = 'post /api/v1/projects/{projectId}/endpoints/{endpointId}/rotate-secret';

export function RotateSecret({ endpoint }: { endpoint: Endpoint }) {
  return (
    <DialogButton
      label="Rotate the secret …"
      title="Rotate the signing secret"
      description="During the overlap each delivery has two signatures, the old and the new one, so that your code can change at any moment."
    >
      {(close) => <Rotating endpoint={endpoint} close={close} />}
    </DialogButton>
  );
}

function Rotating({ endpoint, close }: { endpoint: Endpoint; close: () => void }) {
  const [overlap, setOverlap] = useState('86400');
  const { mutate, data, error, isPending } = useAction(operation, { showsError: true });
  const params = { projectId: endpoint.projectId, endpointId: endpoint.id };
  if (data) {
    return (
      <ShownOnce label="New signing secret" secret={data.signingSecret} close={close}>
        <p className="m-0 text-muted">
          The old one signs too until <Time at={data.overlapEndsAt} />.
        </p>
      </ShownOnce>
    );
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params, body: { overlapSeconds: Number(overlap) } });
      }}
    >
      <OverlapField value={overlap} onChange={setOverlap} />
      <FormError error={error} />
      <FormButtons submitLabel="Make a new secret" cancel={close} busy={isPending} />
    </form>
  );
}

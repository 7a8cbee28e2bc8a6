import { useState } from 'react';
import type { Endpoint } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FormError, SelectField } from '../components/field.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { Time } from '../display/zone.tsx';

const operation = 'post /api/v1/projects/{projectId}/endpoints/{endpointId}/rotate-secret';

export function RotateSecret({ endpoint }: { endpoint: Endpoint }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Rotate the secret …</Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Rotate the signing secret"
        description="During the overlap each delivery has two signatures, the old and the new one, so that your code can change at any moment."
      >
        <Rotating endpoint={endpoint} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Rotating({ endpoint, close }: { endpoint: Endpoint; close: () => void }) {
  const [overlap, setOverlap] = useState('86400');
  const { mutate, data, error, isPending } = useAction(operation, { showsError: true });
  const params = { projectId: endpoint.projectId, endpointId: endpoint.id };
  if (data) {
    return (
      <div className="grid gap-4">
        <SecretOnce label="New signing secret" secret={data.signingSecret} />
        <p className="m-0 text-muted">
          The old one signs too until <Time at={data.overlapEndsAt} />.
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
        mutate({ params, body: { overlapSeconds: Number(overlap) } });
      }}
    >
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
          Make a new secret
        </Button>
      </div>
    </form>
  );
}

import { useState } from 'react';
import type { Endpoint } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { endpointReadings } from './endpoint-actions.tsx';
import { changesOf, fieldsOf } from './endpoint-fields.ts';
import { EndpointForm } from './endpoint-form.tsx';

export function EditEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { mutate, error, isPending } = useAction(
    'patch /api/v1/projects/{projectId}/endpoints/{endpointId}',
    {
      changes: endpointReadings,
      showsError: true,
      done: () => 'Saved: the next attempts use it',
      onDone: close,
    },
  );
  const initial = fieldsOf(endpoint);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit …</Button>
      <Dialog open={open} onOpenChange={setOpen} title="Edit the endpoint">
        <EndpointForm
          initial={initial}
          submitLabel="Save"
          busy={isPending}
          error={error}
          hasHeaders={endpoint.hasHeaders}
          cancel={close}
          onSubmit={(fields) => {
            const body = changesOf(initial, fields);
            if (Object.keys(body).length === 0) return close();
            mutate({ params: { projectId: endpoint.projectId, endpointId: endpoint.id }, body });
          }}
        />
      </Dialog>
    </>
  );
}

import { useState } from 'react';
import type { Endpoint } from '../../api/entities.ts';
import { useAction } from '../../api/use-action.ts';
import { DialogButton } from '../../components/dialog/dialog-button.tsx';
import { endpointReadings } from '../endpoint-readings.ts';
import { changesOf, fieldsOf, type EndpointFields } from './endpoint-fields.ts';
import { EndpointForm } from './endpoint-form.tsx';

export function EditEndpoint({ endpoint }: { endpoint: Endpoint }) {
  return (
    <DialogButton label="Edit …" title="Edit the endpoint">
      {(close) => <Editing endpoint={endpoint} close={close} />}
    </DialogButton>
  );
}

function Editing({ endpoint, close }: { endpoint: Endpoint; close: () => void }) {
  const { mutate, error, isPending } = useAction(
    'patch /api/v1/projects/{projectId}/endpoints/{endpointId}',
    {
      changes: endpointReadings,
      showsError: true,
      done: () => 'Saved: the next attempts use it',
      onDone: close,
    },
  );
  // As they were when the form opened: a later read must not look like a change of the reader.
  const [initial] = useState(() => fieldsOf(endpoint));
  const save = (fields: EndpointFields) => {
    const body = changesOf(initial, fields);
    if (Object.keys(body).length === 0) return close();
    mutate({ params: { projectId: endpoint.projectId, endpointId: endpoint.id }, body });
  };
  return (
    <EndpointForm
      initial={initial}
      submitLabel="Save"
      busy={isPending}
      error={error}
      endpoint={endpoint}
      cancel={close}
      onSubmit={save}
    />
  );
}

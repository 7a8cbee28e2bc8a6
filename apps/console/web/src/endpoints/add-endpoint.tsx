import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { endpointReadings } from './endpoint-actions.tsx';
import { changesOf, emptyFields, type EndpointFields } from './endpoint-fields.ts';
import { EndpointForm } from './endpoint-form.tsx';

export function AddEndpoint({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Add an endpoint
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="Add an endpoint">
        <Adding projectId={projectId} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Adding({ projectId, close }: { projectId: string; close: () => void }) {
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects/{projectId}/endpoints', {
    changes: endpointReadings,
    showsError: true,
  });
  if (data) {
    return (
      <div className="grid gap-4">
        <p className="m-0">
          Webhooks that arrive from now on are delivered to{' '}
          <span className="break-all">{data.endpoint.url}</span>. Your code verifies them with this secret;
          the page of the endpoint has the code.
        </p>
        <SecretOnce label="Signing secret" secret={data.signingSecret} />
        <Button look="primary" className="justify-self-end" onClick={close}>
          I have copied it
        </Button>
      </div>
    );
  }
  const add = (fields: EndpointFields) =>
    mutate({
      params: { projectId },
      body: { ...changesOf(emptyFields, fields), url: fields.url.trim() },
    });
  return (
    <EndpointForm
      initial={emptyFields}
      submitLabel="Add it"
      busy={isPending}
      error={error}
      onSubmit={add}
      cancel={close}
    />
  );
}

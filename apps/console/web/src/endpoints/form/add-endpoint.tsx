import { useAction } from '../../api/use-action.ts';
import { DialogButton } from '../../components/dialog/dialog-button.tsx';
import { ShownOnce } from '../../components/dialog/shown-once.tsx';
import { endpointReadings } from '../endpoint-readings.ts';
import { changesOf, emptyFields, type EndpointFields } from './endpoint-fields.ts';
import { EndpointForm } from './endpoint-form.tsx';

export function AddEndpoint({ projectId }: { projectId: string }) {
  return (
    <DialogButton look="primary" label="Add an endpoint" title="Add an endpoint">
      {(close) => <Adding projectId={projectId} close={close} />}
    </DialogButton>
  );
}

function Adding({ projectId, close }: { projectId: string; close: () => void }) {
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects/{projectId}/endpoints', {
    changes: endpointReadings,
    showsError: true,
  });
  if (data) {
    return (
      <ShownOnce label="Signing secret" secret={data.signingSecret} close={close}>
        <p className="m-0">
          Webhooks that arrive from now on are delivered to{' '}
          <span className="break-all">{data.endpoint.url}</span>. Your code verifies them with this secret;
          the page of the endpoint has the code.
        </p>
      </ShownOnce>
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

import { useState } from 'react';
import type { Endpoint } from '../api/entities.ts';
import type { AnswerOf } from '../api/operations.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog/dialog.tsx';
import { FormError } from '../components/field.tsx';
import { Tag } from '../components/tag.tsx';
import { formatDuration } from '../display/time-format.ts';

const operation = 'post /api/v1/projects/{projectId}/endpoints/{endpointId}/test';

/** Sends a signed ping, and shows the answer of the endpoint. */
export function TestEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [open, setOpen] = useState(false);
  const { mutate, data, error, isPending } = useAction(operation, { showsError: true });
  const send = () => mutate({ params: { projectId: endpoint.projectId, endpointId: endpoint.id }, body: {} });
  return (
    <>
      <Button
        small
        onClick={() => {
          setOpen(true);
          send();
        }}
      >
        Test
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="A signed ping" description={endpoint.url}>
        <div aria-live="polite">
          {isPending && <p className="m-0 text-muted">Waiting for the answer …</p>}
          <FormError error={error} />
          {!isPending && data && <Result result={data} />}
        </div>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Close</Button>
          <Button look="primary" busy={isPending} onClick={send}>
            Send again
          </Button>
        </div>
      </Dialog>
    </>
  );
}

function Result({ result }: { result: AnswerOf<typeof operation> }) {
  const { ok, statusCode, latencyMs, error, responseBody } = result;
  return (
    <>
      <p className="m-0 flex flex-wrap items-center gap-2">
        <Tag tone={ok ? 'good' : 'bad'}>{ok ? 'works' : 'failed'}</Tag>
        {statusCode === null ? 'No answer' : `Answered ${statusCode}`} in {formatDuration(latencyMs)}
      </p>
      {error !== null && <p className="break-words">{error}</p>}
      {responseBody !== null && responseBody !== '' && (
        <pre
          tabIndex={0}
          className="mb-0 max-h-64 overflow-auto rounded-md bg-raised p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
        >
          {responseBody}
        </pre>
      )}
    </>
  );
}

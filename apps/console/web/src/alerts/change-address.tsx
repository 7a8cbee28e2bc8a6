import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { FormError, TextField } from '../components/field.tsx';
import { alertReadings } from './alert-readings.ts';
import type { Alert } from './alert-row.tsx';
import { channels } from './channels.ts';

export function ChangeAddress({ alert }: { alert: Alert }) {
  return (
    <DialogButton small label="Address …" title="Send the messages of this rule to another address">
      {(close) => <AddressForm alert={alert} close={close} />}
    </DialogButton>
  );
}

function AddressForm({ alert, close }: { alert: Alert; close: () => void }) {
  const [target, setTarget] = useState('');
  const { projectId, id, channel } = alert;
  const { mutate, isPending, error } = useAction('patch /api/v1/projects/{projectId}/alerts/{alertId}', {
    changes: alertReadings,
    showsError: true,
    done: () => 'Changed: send a test to see that it arrives',
    onDone: close,
  });
  const { label, type } = channels[channel];
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params: { projectId, alertId: id }, body: { [channel]: target.trim() } });
      }}
    >
      <TextField
        label={label}
        type={type}
        hint={`In place of ${alert.target}. Messages that were not sent yet go there too.`}
        required
        value={target}
        onChange={(event) => setTarget(event.target.value)}
      />
      <FormError error={error} />
      <FormButtons submitLabel="Change it" cancel={close} busy={isPending} />
    </form>
  );
}

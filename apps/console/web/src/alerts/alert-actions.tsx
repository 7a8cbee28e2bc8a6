import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { ConfirmButton } from '../components/dialog/confirm-button.tsx';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { FormError, SelectField } from '../components/field.tsx';
import { useNow } from '../display/now.ts';
import { alertReadings } from './alert-readings.ts';
import type { Alert } from './alert-row.tsx';
import { ChangeAddress } from './change-address.tsx';

const path = '/api/v1/projects/{projectId}/alerts/{alertId}';
const hourMs = 3_600_000;

const paramsOf = ({ projectId, id }: Alert) => ({ projectId, alertId: id });

export function AlertActions({ alert }: { alert: Alert }) {
  const params = paramsOf(alert);
  const test = useAction(`post ${path}/test`, {
    changes: alertReadings,
    done: () => 'A test is sent: its answer stands below, among the messages',
  });
  const remove = useAction(`delete ${path}`, { changes: alertReadings, done: () => 'Removed' });
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button small busy={test.isPending} onClick={() => test.mutate({ params, body: {} })}>
        Test
      </Button>
      <ChangeAddress alert={alert} />
      <SnoozeButton alert={alert} />
      <ConfirmButton
        small
        label="Remove …"
        title="Remove this rule?"
        confirm="Remove it"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ params })}
      >
        <p>
          {alert.target} gets no further message of it. Its {alert.on.length} kinds are not alerted on unless
          another rule has them. This cannot be undone; the messages that were sent stay below.
        </p>
      </ConfirmButton>
    </div>
  );
}

function SnoozeButton({ alert }: { alert: Alert }) {
  const now = useNow();
  const isSnoozed = alert.snoozedUntil !== null && Date.parse(alert.snoozedUntil) > now;
  const end = useAction(`post ${path}/snooze`, { changes: alertReadings, done: () => 'It alerts again' });
  if (!isSnoozed) {
    return (
      <DialogButton small label="Snooze …" title="Send nothing of this rule for a while">
        {(close) => <SnoozeForm alert={alert} close={close} />}
      </DialogButton>
    );
  }
  return (
    <Button
      small
      look="primary"
      busy={end.isPending}
      onClick={() => end.mutate({ params: paramsOf(alert), body: { until: null } })}
    >
      End the snooze
    </Button>
  );
}

function SnoozeForm({ alert, close }: { alert: Alert; close: () => void }) {
  const [hours, setHours] = useState('8');
  const { mutate, isPending, error } = useAction(`post ${path}/snooze`, {
    changes: alertReadings,
    showsError: true,
    done: () => 'Snoozed',
    onDone: close,
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const until = new Date(Date.now() + Number(hours) * hourMs).toISOString();
        mutate({ params: paramsOf(alert), body: { until } });
      }}
    >
      <SelectField label="For" value={hours} onChange={({ target }) => setHours(target.value)}>
        <option value="1">an hour</option>
        <option value="8">8 hours</option>
        <option value="24">a day</option>
        <option value="168">a week</option>
      </SelectField>
      <FormError error={error} />
      <FormButtons submitLabel="Snooze it" cancel={close} busy={isPending} />
    </form>
  );
}

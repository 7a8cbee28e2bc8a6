import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { ShownOnce } from '../components/dialog/shown-once.tsx';
import { CheckField, FormError, SelectField, TextField } from '../components/field.tsx';
import { alertKinds, type AlertKind } from './alert-kinds.ts';
import { alertReadings } from './alert-readings.ts';
import { channels, type Channel } from './channels.ts';

type Fields = { kinds: readonly AlertKind[]; channel: Channel; target: string; windowMinutes: string };
type FieldsProps = { fields: Fields; set: (changed: Partial<Fields>) => void };

const initial: Fields = {
  kinds: ['dead_letter', 'endpoint_failing', 'endpoint_disabled'],
  channel: 'email',
  target: '',
  windowMinutes: '15',
};
const allKinds = Object.keys(alertKinds) as AlertKind[];

export function AddAlert({ projectId }: { projectId: string }) {
  return (
    <DialogButton look="primary" label="Add a rule" title="Add an alert rule">
      {(close) => <Adding projectId={projectId} close={close} />}
    </DialogButton>
  );
}

function Adding({ projectId, close }: { projectId: string; close: () => void }) {
  const [fields, setFields] = useState(initial);
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects/{projectId}/alerts', {
    changes: alertReadings,
    showsError: true,
    done: () => 'Added: send a test to see that it arrives',
    onDone: ({ signingSecret }) => signingSecret === undefined && close(),
  });
  const set = (changed: Partial<Fields>) => setFields({ ...fields, ...changed });
  if (data?.signingSecret !== undefined) {
    return <ShownOnce label="Signing secret of the callbacks" secret={data.signingSecret} close={close} />;
  }
  const { kinds, channel, target, windowMinutes } = fields;
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const windowSeconds = Math.round(Number(windowMinutes) * 60);
        mutate({ params: { projectId }, body: { on: [...kinds], [channel]: target.trim(), windowSeconds } });
      }}
    >
      <KindFields fields={fields} set={set} />
      <ChannelFields fields={fields} set={set} />
      <FormError error={error} />
      <FormButtons submitLabel="Add it" cancel={close} busy={isPending} disabled={kinds.length === 0} />
    </form>
  );
}

function KindFields({ fields: { kinds }, set }: FieldsProps) {
  const choose = (kind: AlertKind, isChosen: boolean) =>
    set({ kinds: allKinds.filter((each) => (each === kind ? isChosen : kinds.includes(each))) });
  return (
    <fieldset className="m-0 grid gap-2 border-0 p-0">
      <legend className="mb-1 p-0 text-sm font-medium">Alert on</legend>
      {allKinds.map((kind) => (
        <CheckField
          key={kind}
          label={alertKinds[kind].label}
          hint={alertKinds[kind].meaning}
          checked={kinds.includes(kind)}
          onChange={({ target }) => choose(kind, target.checked)}
        />
      ))}
    </fieldset>
  );
}

function ChannelFields({ fields: { channel, target: value, windowMinutes }, set }: FieldsProps) {
  const { label, type, hint } = channels[channel];
  return (
    <>
      <SelectField
        label="By"
        value={channel}
        onChange={({ target }) => set({ channel: target.value as Channel, target: '' })}
      >
        <option value="email">mail</option>
        <option value="webhook">webhook</option>
        <option value="slack">Slack</option>
      </SelectField>
      <TextField
        label={label}
        type={type}
        hint={hint}
        required
        value={value}
        onChange={({ target }) => set({ target: target.value })}
      />
      <TextField
        label="Window in minutes"
        hint="At most one message for a kind and an endpoint in this time."
        type="number"
        min={1}
        max={1440}
        required
        value={windowMinutes}
        onChange={({ target }) => set({ windowMinutes: target.value })}
      />
    </>
  );
}

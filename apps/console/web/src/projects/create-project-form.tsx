import { Link } from '@tanstack/react-router';
import { presets } from '@hqrelay/domain/providers/presets';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { ShownOnce } from '../components/dialog/shown-once.tsx';
import { CheckField, FormError, SelectField, TextField } from '../components/field.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { emptyProject, newProjectOf, presetOf, type ProjectFields } from './project-fields.ts';

export function CreateProjectForm({ close }: { close: () => void }) {
  const [fields, setFields] = useState(emptyProject);
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects', {
    changes: ['get /api/v1/projects'],
    showsError: true,
  });
  if (data) {
    return (
      <ShownOnce label="Secret" secret={data.secret} close={close}>
        <Created id={data.project.id} webhookUrl={data.project.webhookUrl} />
      </ShownOnce>
    );
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ body: newProjectOf(fields) });
      }}
    >
      <Fields fields={fields} set={(changed) => setFields({ ...fields, ...changed })} />
      <FormError error={error} />
      <FormButtons submitLabel="Create it" cancel={close} busy={isPending} />
    </form>
  );
}

function Created({ id, webhookUrl }: { id: string; webhookUrl: string }) {
  return (
    <p className="m-0">
      The provider posts to <code className="font-mono text-xs break-all">{webhookUrl}</code>{' '}
      <CopyButton text={webhookUrl} /> The{' '}
      <Link to="/projects/$projectId/settings" params={{ projectId: id }} className="text-accent underline">
        settings of the project
      </Link>{' '}
      say what to do at the provider.
    </p>
  );
}

type FieldsProps = { fields: ProjectFields; set: (changed: Partial<ProjectFields>) => void };

function Fields({ fields, set }: FieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        hint="Of the customer."
        required
        maxLength={200}
        value={fields.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <SelectField
        label="Provider"
        hint="Who sends the webhooks. “Generic” is any sender that signs with an HMAC-SHA256 of the body."
        value={fields.provider}
        onChange={({ target }) => set({ provider: target.value })}
      >
        {presets.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </SelectField>
      <ProviderFields fields={fields} set={set} />
    </>
  );
}

/** The secret and the settings that the chosen provider needs. */
function ProviderFields({ fields, set }: FieldsProps) {
  const preset = presetOf(fields.provider);
  if (!preset) return null;
  const isTheirs = preset.secret.from === 'provider';
  return (
    <>
      <TextField
        label="Secret"
        hint={`It is ${preset.secret.what}. ${isTheirs ? 'The provider makes it: paste it.' : 'Empty makes a random one.'}`}
        autoComplete="off"
        value={fields.secret}
        onChange={({ target }) => set({ secret: target.value })}
      />
      {(preset.settings ?? []).map(({ name, what, isRequired }) => (
        <TextField
          key={name}
          label={name}
          hint={`${what.charAt(0).toUpperCase()}${what.slice(1)}. Stored encrypted.`}
          autoComplete="off"
          required={isRequired}
          value={fields.settings[name] ?? ''}
          onChange={({ target }) => set({ settings: { ...fields.settings, [name]: target.value } })}
        />
      ))}
      {preset.timestampScheme !== undefined && (
        <CheckField
          label="Require a timestamp"
          hint="For generic senders that sign X-Webhook-Timestamp too."
          checked={fields.requireTimestamp}
          onChange={({ target }) => set({ requireTimestamp: target.checked })}
        />
      )}
    </>
  );
}

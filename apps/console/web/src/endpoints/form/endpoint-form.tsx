import { useState } from 'react';
import type { Endpoint } from '../../api/entities.ts';
import { FormButtons } from '../../components/dialog/form-buttons.tsx';
import { FormError, TextField } from '../../components/field.tsx';
import { DeliveryFields } from './delivery-fields.tsx';
import type { EndpointFields } from './endpoint-fields.ts';
import { SecretFields } from './secret-fields.tsx';

type Props = {
  initial: EndpointFields;
  submitLabel: string;
  busy: boolean;
  error: Error | null;
  /** The stored endpoint; none where one is added. */
  endpoint?: Endpoint;
  onSubmit: (fields: EndpointFields) => void;
  cancel: () => void;
};

export type FieldsProps = { fields: EndpointFields; set: (changed: Partial<EndpointFields>) => void };

export function EndpointForm({ initial, submitLabel, busy, error, endpoint, onSubmit, cancel }: Props) {
  const [fields, setFields] = useState(initial);
  const set = (changed: Partial<EndpointFields>) => setFields({ ...fields, ...changed });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(fields);
      }}
    >
      <TextField
        label="URL"
        type="url"
        required
        maxLength={2048}
        placeholder="https://shop.example/webhooks"
        value={fields.url}
        onChange={({ target }) => set({ url: target.value })}
      />
      <DeliveryFields fields={fields} set={set} />
      <details>
        <summary className="w-fit text-sm text-muted hover:text-ink">Headers and certificates</summary>
        <div className="mt-3 grid gap-4">
          <SecretFields fields={fields} set={set} {...(endpoint && { endpoint })} />
        </div>
      </details>
      <FormError error={error} />
      <FormButtons submitLabel={submitLabel} cancel={cancel} busy={busy} />
    </form>
  );
}

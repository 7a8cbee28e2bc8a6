import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { CheckField, FormError, inputClass, TextField } from '../components/field.tsx';
import type { EndpointFields } from './endpoint-fields.ts';

type Props = {
  initial: EndpointFields;
  submitLabel: string;
  busy: boolean;
  error: Error | null;
  hasHeaders?: boolean;
  onSubmit: (fields: EndpointFields) => void;
  cancel: () => void;
};

export function EndpointForm({
  initial,
  submitLabel,
  busy,
  error,
  hasHeaders = false,
  onSubmit,
  cancel,
}: Props) {
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
      <TextField
        label="Event types"
        hint="Separated by commas, such as payment.*, order.paid. Empty is all."
        value={fields.eventTypes}
        onChange={({ target }) => set({ eventTypes: target.value })}
      />
      <TextField
        label="Retry schedule"
        required
        hint="hqrelay, omise, standard-webhooks, or delays such as 5s, 1m, 1h."
        value={fields.retrySchedule}
        onChange={({ target }) => set({ retrySchedule: target.value })}
      />
      <TextField
        label="Timeout in seconds"
        type="number"
        min={1}
        max={30}
        step="any"
        required
        value={fields.timeoutSeconds}
        onChange={({ target }) => set({ timeoutSeconds: target.value })}
      />
      <details>
        <summary className="w-fit text-sm text-muted hover:text-ink">More settings</summary>
        <div className="mt-3 grid gap-4">
          <label className="grid gap-1 text-sm font-medium">
            {hasHeaders ? 'Replace its fixed headers' : 'Fixed headers'}
            <textarea
              rows={3}
              className={`${inputClass} font-mono font-normal`}
              placeholder="Name: value, one a line"
              value={fields.headers}
              onChange={({ target }) => set({ headers: target.value })}
            />
            <span className="text-xs font-normal text-muted">Stored encrypted and never shown again.</span>
          </label>
          <CheckField
            label="Forward the provider's credential"
            hint="Such as its Authorization header, which is taken off otherwise."
            checked={fields.forwardCredentials}
            onChange={({ target }) => set({ forwardCredentials: target.checked })}
          />
        </div>
      </details>
      <FormError error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={cancel}>Cancel</Button>
        <Button type="submit" look="primary" busy={busy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

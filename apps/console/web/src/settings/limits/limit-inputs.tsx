import { SelectField, TextField } from '../../components/field.tsx';
import type { LimitFields } from './limit-fields.ts';

type Props = { fields: LimitFields; set: (changed: Partial<LimitFields>) => void };

export function LimitInputs({ fields, set }: Props) {
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={200}
        value={fields.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label="Webhooks per minute"
        hint="Empty is unlimited. Over it the answer is 429, and the provider tries again."
        type="number"
        min={1}
        max={1_000_000}
        value={fields.rateLimit}
        onChange={({ target }) => set({ rateLimit: target.value })}
      />
      <TextField
        label="Search keys"
        hint="Up to five JSON Pointers such as /order/id: webhooks received from then on are found by the values there, however old they are."
        value={fields.searchKeys}
        onChange={({ target }) => set({ searchKeys: target.value })}
      />
    </>
  );
}

/** How a webhook is recognised that was received before. */
export function DuplicateInputs({ fields, set }: Props) {
  return (
    <>
      <TextField
        label="Hours in which an id is remembered"
        hint="A webhook with the same id is a duplicate for so long."
        type="number"
        min={0.1}
        max={720}
        step="any"
        required
        value={fields.idempotencyHours}
        onChange={({ target }) => set({ idempotencyHours: target.value })}
      />
      <SelectField
        label="The same id with another body"
        value={fields.onConflict}
        onChange={({ target }) => set({ onConflict: target.value as LimitFields['onConflict'] })}
      >
        <option value="reject">is refused (409)</option>
        <option value="duplicate">is a duplicate</option>
      </SelectField>
      <SelectField
        label="The same body under another id"
        value={fields.sameBody}
        onChange={({ target }) => set({ sameBody: target.value as LimitFields['sameBody'] })}
      >
        <option value="accept">is a new webhook</option>
        <option value="duplicate">is a duplicate</option>
      </SelectField>
    </>
  );
}

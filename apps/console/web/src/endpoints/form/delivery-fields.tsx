import { SelectField, TextField } from '../../components/field.tsx';
import type { EndpointFields } from './endpoint-fields.ts';
import type { FieldsProps } from './endpoint-form.tsx';

/** Which webhooks the endpoint gets, when, and in which order. */
export function DeliveryFields({ fields, set }: FieldsProps) {
  return (
    <>
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
      <OrderFields fields={fields} set={set} />
    </>
  );
}

function OrderFields({ fields, set }: FieldsProps) {
  return (
    <>
      <TextField
        label="Ordering key"
        hint="Webhooks with the same value are delivered one at a time, in order: a JSON Pointer such as /order_id, or header:Name. Empty is no order."
        maxLength={255}
        value={fields.orderingKey}
        onChange={({ target }) => set({ orderingKey: target.value })}
      />
      {fields.orderingKey.trim() !== '' && (
        <SelectField
          label="After a dead letter"
          value={fields.onDeadLetter}
          onChange={({ target }) => set({ onDeadLetter: target.value as EndpointFields['onDeadLetter'] })}
        >
          <option value="continue">deliver the next webhook of its key</option>
          <option value="hold">hold its key until the dead letter is replayed or skipped</option>
        </SelectField>
      )}
    </>
  );
}

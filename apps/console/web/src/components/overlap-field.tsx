import { SelectField } from './field.tsx';

type Props = { value: string; onChange: (seconds: string) => void };

/** How long an old secret stays valid beside the new one, in seconds. */
export function OverlapField({ value, onChange }: Props) {
  return (
    <SelectField label="Overlap" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="0">none: the old secret has leaked</option>
      <option value="3600">1 hour</option>
      <option value="86400">24 hours</option>
      <option value="604800">7 days</option>
    </SelectField>
  );
}

import { SelectField } from '../components/field.tsx';

type Props = { label: string; value: string; onChange: (period: string) => void; any?: string };

const labels = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
} as const;

/** A period that counts back from now, by its text in the URL. `any` is the choice of no period. */
export function PeriodField({ label, value, onChange, any }: Props) {
  return (
    <SelectField label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      {any !== undefined && <option value="">{any}</option>}
      {Object.entries(labels).map(([period, text]) => (
        <option key={period} value={period}>
          {text}
        </option>
      ))}
    </SelectField>
  );
}

import { TextField } from '../components/field.tsx';

type Props = { value: string; onChange: (value: string) => void };

export function RateField({ value, onChange }: Props) {
  return (
    <TextField
      label="Per second, at most"
      hint="Live webhooks are sent ahead of replays. Choose what the endpoint can take."
      type="number"
      min={1}
      max={2000}
      required
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

export function rateOf(text: string): number {
  return Math.round(Number(text));
}

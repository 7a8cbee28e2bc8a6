import { Button } from '../button.tsx';

type Props = { submitLabel: string; cancel: () => void; busy?: boolean; disabled?: boolean };

/** The end of a form in a dialog. */
export function FormButtons({ submitLabel, cancel, busy = false, disabled = false }: Props) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button onClick={cancel}>Cancel</Button>
      <Button type="submit" look="primary" busy={busy} disabled={disabled}>
        {submitLabel}
      </Button>
    </div>
  );
}

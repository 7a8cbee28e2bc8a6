import { useState, type ReactNode } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { Dialog } from './dialog.tsx';

type Props = {
  label: string;
  title: string;
  /** Says how many things change and whether it can be undone. */
  children: ReactNode;
  confirm: string;
  onConfirm: () => void;
  look?: ButtonLook;
  small?: boolean;
  busy?: boolean;
  disabled?: boolean;
};

/** A button that asks first. */
export function ConfirmButton({
  label,
  title,
  children,
  confirm,
  onConfirm,
  look = 'danger',
  ...rest
}: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look={look} {...rest} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title={title}>
        <div className="text-muted">{children}</div>
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Keep it as it is</Button>
          <Button
            look={look === 'danger' ? 'danger' : 'primary'}
            onClick={() => {
              setOpen(false);
              onConfirm();
            }}
          >
            {confirm}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

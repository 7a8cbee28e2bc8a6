import { useState, type ReactNode } from 'react';
import { Button, type ButtonLook } from '../button.tsx';
import { Dialog } from './dialog.tsx';

type Props = {
  label: string;
  title: string;
  description?: ReactNode;
  look?: ButtonLook;
  small?: boolean;
  busy?: boolean;
  /** The content, made anew each time the dialog opens. */
  children: (close: () => void) => ReactNode;
};

/** A button that opens a dialog. */
export function DialogButton({ label, title, description, children, ...button }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title={title} description={description}>
        {children(() => setOpen(false))}
      </Dialog>
    </>
  );
}

import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { DialogButton } from './dialog-button.tsx';

type Props = {
  label: string;
  title: string;
  /** Says how many things change and whether it can be undone. */
  children: ReactNode;
  confirm: string;
  onConfirm: () => void;
  small?: boolean;
  busy?: boolean;
};

/** A button that asks first. */
export function ConfirmButton({ children, confirm, onConfirm, ...button }: Props) {
  return (
    <DialogButton look="danger" {...button}>
      {(close) => (
        <>
          <div className="grid gap-2 text-muted">{children}</div>
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <Button onClick={close}>Keep it as it is</Button>
            <Button
              look="danger"
              onClick={() => {
                close();
                onConfirm();
              }}
            >
              {confirm}
            </Button>
          </div>
        </>
      )}
    </DialogButton>
  );
}

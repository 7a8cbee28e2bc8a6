import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
};

/** A modal dialog; Escape and a press outside close it, and the focus returns to the control that opened it. */
export function Dialog({ open, onOpenChange, title, description, children }: Props) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup className="fixed inset-x-3 top-[8vh] z-40 mx-auto max-h-[84vh] max-w-xl overflow-y-auto rounded-xl border border-line bg-surface p-5 shadow-xl">
          <Base.Title className="m-0 text-lg font-semibold">{title}</Base.Title>
          {description !== undefined && (
            <Base.Description className="mt-1 text-muted">{description}</Base.Description>
          )}
          <div className="mt-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

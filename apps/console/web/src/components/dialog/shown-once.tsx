import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';

type Props = { label: string; secret: string; close: () => void; children?: ReactNode };

/** A secret that the API returns once. The dialog closes when the reader says that it is copied. */
export function ShownOnce({ label, secret, close, children }: Props) {
  return (
    <div className="grid gap-4">
      {children}
      <div className="rounded-md border border-warn bg-warn-soft p-3">
        <p className="m-0 text-sm font-medium text-warn">{label}: shown this once only. Copy it now.</p>
        <div className="mt-2 flex items-start justify-between gap-2">
          <code className="font-mono text-xs break-all text-ink">{secret}</code>
          <CopyButton text={secret} look="plain" />
        </div>
      </div>
      <Button look="primary" className="justify-self-end" onClick={close}>
        I have copied it
      </Button>
    </div>
  );
}

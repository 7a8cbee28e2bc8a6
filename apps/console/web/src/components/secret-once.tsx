import { CopyButton } from './copy-button.tsx';

/** A secret that the relay shows this once. */
export function SecretOnce({ label, secret }: { label: string; secret: string }) {
  return (
    <div className="rounded-md border border-warn bg-warn-soft p-3">
      <p className="m-0 text-sm font-medium text-warn">{label}: shown this once only. Copy it now.</p>
      <div className="mt-2 flex items-start justify-between gap-2">
        <code className="font-mono text-xs break-all text-ink">{secret}</code>
        <CopyButton text={secret} look="plain" />
      </div>
    </div>
  );
}

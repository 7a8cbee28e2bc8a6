import { useId, type ComponentProps, type ReactNode } from 'react';

export const inputClass =
  'w-full min-h-9 rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-sm text-ink placeholder:text-muted';

type FieldProps = {
  label: string;
  hint?: ReactNode;
  children: (ids: { id: string; hintId?: string }) => ReactNode;
};

function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({ id, ...(hintId !== undefined && { hintId }) })}
      {hint !== undefined && (
        <p id={hintId} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

type Described = { label: string; hint?: ReactNode };

export function TextField({ label, hint, className = '', ...rest }: ComponentProps<'input'> & Described) {
  return (
    <Field label={label} hint={hint}>
      {({ id, hintId }) => (
        <input {...rest} id={id} aria-describedby={hintId} className={`${inputClass} ${className}`} />
      )}
    </Field>
  );
}

export function TextAreaField({ label, hint, ...rest }: ComponentProps<'textarea'> & Described) {
  return (
    <Field label={label} hint={hint}>
      {({ id, hintId }) => (
        <textarea
          rows={3}
          autoComplete="off"
          spellCheck={false}
          {...rest}
          id={id}
          aria-describedby={hintId}
          className={`${inputClass} font-mono disabled:opacity-50`}
        />
      )}
    </Field>
  );
}

export function SelectField({ label, hint, children, ...rest }: ComponentProps<'select'> & Described) {
  return (
    <Field label={label} hint={hint}>
      {({ id, hintId }) => (
        <select {...rest} id={id} aria-describedby={hintId} className={inputClass}>
          {children}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, hint, ...rest }: ComponentProps<'input'> & Described) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input {...rest} id={id} type="checkbox" className="mt-0.5 size-4 accent-(--accent)" />
      <label htmlFor={id}>
        <span className="text-sm font-medium">{label}</span>
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </label>
    </div>
  );
}

/** The API's refusal, beside the form that it is about. */
export function FormError({ error }: { error: Error | null }) {
  return error === null ? null : (
    <p role="alert" className="m-0 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      {error.message}
    </p>
  );
}

import type { ComponentProps } from 'react';

const looks = {
  primary: 'bg-accent text-accent-ink hover:brightness-110 border-transparent',
  plain: 'bg-surface text-ink border-line hover:bg-raised hover:border-line-strong',
  danger: 'bg-surface text-bad border-line hover:bg-bad-soft hover:border-bad',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-raised hover:text-ink',
} as const;

export type ButtonLook = keyof typeof looks;

export function buttonClass(look: ButtonLook = 'plain', small = false): string {
  const size = small ? 'px-2 py-1 text-xs min-h-7' : 'px-3 py-1.5 text-sm min-h-9';
  return `inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-50 ${size} ${looks[look]}`;
}

type Props = ComponentProps<'button'> & { look?: ButtonLook; small?: boolean; busy?: boolean };

export function Button({ look, small, busy = false, className = '', children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={`${buttonClass(look, small)} ${className}`}
    >
      {busy && (
        <span
          aria-hidden
          className="size-3 animate-spin rounded-full border-2 border-current border-t-transparent"
        />
      )}
      {children}
    </button>
  );
}

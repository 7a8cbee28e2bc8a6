import type { ReactNode } from 'react';
import type { Tone } from '../../components/tag.tsx';

const dots: Record<Tone, string> = {
  good: 'bg-good',
  info: 'bg-info',
  warn: 'bg-warn',
  bad: 'bg-bad',
  plain: 'bg-line-strong',
};

/** One step of the time line. */
export function Step({
  tone = 'plain',
  title,
  time,
  children,
}: {
  tone?: Tone;
  title: ReactNode;
  time?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <li className="relative pb-4 pl-6 last:pb-0 before:absolute before:top-3 before:bottom-[-6px] before:left-[5px] before:w-px before:bg-line last:before:hidden">
      <span
        aria-hidden
        className={`absolute top-[5px] left-0 size-[11px] rounded-full ring-4 ring-surface ${dots[tone]}`}
      />
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="min-w-0 font-medium break-words">{title}</span>
        {time !== undefined && <span className="text-xs text-muted">{time}</span>}
      </div>
      {children !== undefined && <div className="mt-0.5 text-muted">{children}</div>}
    </li>
  );
}

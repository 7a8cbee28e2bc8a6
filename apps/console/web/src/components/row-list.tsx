import type { ReactNode } from 'react';
import { useRowKeys } from '../layout/use-row-keys.ts';

/** A list whose rows have one link each, marked `data-row`, between which `j` and `k` move. */
export function RowList({ children }: { children: ReactNode }) {
  const rows = useRowKeys<HTMLUListElement>();
  return (
    <ul ref={rows} className="m-0 list-none overflow-hidden rounded-lg border border-line bg-surface p-0">
      {children}
    </ul>
  );
}

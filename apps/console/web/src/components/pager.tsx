import { Button } from './button.tsx';

type Props = {
  page: { nextCursor: string | null; prevCursor: string | null };
  /** The cursor of the page that is shown; undefined for the newest. */
  cursor: string | undefined;
  goTo: (cursor: string | undefined) => void;
};

/** Steps through a list, whose newest rows come first. Nothing where there is one page only. */
export function Pager({ page: { nextCursor, prevCursor }, cursor, goTo }: Props) {
  if (nextCursor === null && prevCursor === null && cursor === undefined) return null;
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2">
      {cursor !== undefined && (
        <Button look="quiet" onClick={() => goTo(undefined)}>
          Newest
        </Button>
      )}
      <Button disabled={prevCursor === null} onClick={() => goTo(prevCursor ?? undefined)}>
        ← Newer
      </Button>
      <Button disabled={nextCursor === null} onClick={() => goTo(nextCursor ?? undefined)}>
        Older →
      </Button>
    </nav>
  );
}

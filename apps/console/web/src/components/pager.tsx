import { Button } from './button.tsx';

type Step = (() => void) | undefined;

/** Steps through a list, whose newest rows come first. Nothing where there is one page only. */
export function Pager({ newer, older, newest }: { newer?: Step; older?: Step; newest?: Step }) {
  if (!newer && !older && !newest) return null;
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2">
      {newest && (
        <Button look="quiet" onClick={newest}>
          Newest
        </Button>
      )}
      <Button disabled={!newer} onClick={newer}>
        ← Newer
      </Button>
      <Button disabled={!older} onClick={older}>
        Older →
      </Button>
    </nav>
  );
}

export type LegendItem = { name: string; colour: string };

/** The names of the series; `colour` is a class that fills. */
export function Legend({ items }: { items: readonly LegendItem[] }) {
  return (
    <figcaption className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {items.map(({ name, colour }) => (
        <span key={name} className="flex min-w-0 items-center gap-1.5">
          <svg aria-hidden viewBox="0 0 10 10" className="size-2.5 shrink-0">
            <rect width="10" height="10" rx="2" className={colour} />
          </svg>
          <span className="truncate">{name}</span>
        </span>
      ))}
    </figcaption>
  );
}

const width = 10;
const height = 28;

/** The shape of the last hours; the figures stand beside it. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const highest = Math.max(1, ...values);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(values.length, 1) * width} ${height}`}
      preserveAspectRatio="none"
      className="h-7 w-full max-sm:col-start-1"
    >
      {values.map((value, at) => {
        const size = value === 0 ? 1 : Math.max(2, (value / highest) * height);
        return (
          <rect
            // The hours have no other name than their place.
            key={at}
            x={at * width + 1}
            y={height - size}
            width={width - 2}
            height={size}
            className={value === 0 ? 'fill-line' : 'fill-accent'}
          />
        );
      })}
    </svg>
  );
}

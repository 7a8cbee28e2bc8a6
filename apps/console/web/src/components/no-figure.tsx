/** A figure that cannot be had: a dash with its reason, never 0. */
export function NoFigure({ reason }: { reason: string }) {
  return (
    <span title={reason}>
      –<span className="sr-only"> ({reason})</span>
    </span>
  );
}

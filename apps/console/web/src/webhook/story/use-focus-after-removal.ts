import { useLayoutEffect, useRef } from 'react';

/** For an element that disappears after its button was pressed: the focus moves to the content of the page instead of to nothing. */
export function useFocusAfterRemoval() {
  const removed = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = removed.current;
    return () => {
      const { activeElement, body } = document;
      // A button that was disabled while its action ran has lost the focus already.
      if (activeElement === body || element?.contains(activeElement))
        document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true });
    };
  }, []);
  return removed;
}

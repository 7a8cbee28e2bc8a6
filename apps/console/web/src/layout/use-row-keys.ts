import { useEffect, useRef } from 'react';
import { isTyping } from './is-typing.ts';

/** `j` and `k`, and the arrows once a row has the focus, move between the rows of a list; Enter opens one, as any link. */
export function useRowKeys<List extends HTMLElement>() {
  const list = useRef<List>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
      const at = links.findIndex((link) => link === document.activeElement);
      const step = stepOf(event.key, at !== -1);
      if (step === 0 || links.length === 0) return;
      event.preventDefault();
      links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return list;
}

function stepOf(key: string, isInList: boolean): number {
  if (key === 'j' || (isInList && key === 'ArrowDown')) return 1;
  return key === 'k' || (isInList && key === 'ArrowUp') ? -1 : 0;
}

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, type RefObject } from 'react';
import { inputClass } from '../components/field.tsx';
import { isTyping } from './is-typing.ts';

/** One box for everything that the API's search finds. `/` puts the cursor there. */
export function SearchBox() {
  const { q } = useSearch({ strict: false });
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  useSlashKey(input);
  const searched = window.location.pathname === '/search' ? (q ?? '') : '';
  // Not by a key that changes: a new field would not have the focus of the old one.
  useEffect(() => {
    if (input.current) input.current.value = searched;
  }, [searched]);
  return (
    <search className="order-last w-full grow sm:order-none sm:w-auto sm:max-w-xl">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = input.current?.value.trim() ?? '';
          if (text !== '') void navigate({ to: '/search', search: { q: text } });
        }}
      >
        <input
          ref={input}
          type="search"
          name="q"
          minLength={3}
          maxLength={255}
          aria-label="Search"
          aria-keyshortcuts="/"
          placeholder="An id, or a value in a payload, such as order 4711"
          className={inputClass}
        />
      </form>
    </search>
  );
}

function useSlashKey(input: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      input.current?.select();
      input.current?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [input]);
}

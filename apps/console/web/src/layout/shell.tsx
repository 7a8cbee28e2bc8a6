import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import type { Me } from '../api/entities.ts';
import { AccountMenu } from './account-menu.tsx';
import { SearchBox } from './search-box.tsx';
import { ZoneSwitch } from './zone-switch.tsx';

export function Shell({ me, children }: { me: Me; children: ReactNode }) {
  const content = useFocusAfterRoute();
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-surface focus:p-2"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 z-20 border-b border-line bg-surface">
        <div className="mx-auto flex max-w-7xl flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2 sm:px-4">
          <Link to="/" className="flex items-center gap-2 font-semibold text-ink no-underline">
            <img src="/icon.svg" alt="" width={22} height={22} />
            HQRelay
          </Link>
          <BackLink returnUrl={me.returnUrl} />
          <SearchBox />
          <div className="ml-auto flex items-center gap-1">
            <ZoneSwitch />
            <AccountMenu me={me} />
          </div>
        </div>
      </header>
      <div ref={content} id="content" tabIndex={-1} className="mx-auto max-w-7xl px-3 pb-16 sm:px-4">
        {children}
      </div>
    </>
  );
}

/** Leads back to the site that made the sign-in link. A `returnUrl` that is a path of the console was opened by the sign-in. */
function BackLink({ returnUrl }: Pick<Me, 'returnUrl'>) {
  if (returnUrl === null || !/^https?:/.test(returnUrl)) return null;
  return (
    // Out of the frame, where another site embeds the console.
    <a href={returnUrl} target="_top" className="max-w-64 truncate text-sm text-accent underline">
      ← Back<span className="max-sm:sr-only"> to {new URL(returnUrl).host}</span>
    </a>
  );
}

/** Where a new page replaces the link that had the focus, the focus moves to the content instead of to nothing. */
function useFocusAfterRoute() {
  const router = useRouter();
  const content = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation }) => {
        if (fromLocation && document.activeElement === document.body)
          content.current?.focus({ preventScroll: true });
      }),
    [router],
  );
  return content;
}

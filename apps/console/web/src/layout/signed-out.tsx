import { useEffect } from 'react';
import { store } from '../display/stored.ts';
import { Dialog } from '../components/dialog/dialog.tsx';
import { Button } from '../components/button.tsx';

const how = (
  <>
    <p>Open a new sign-in link in this browser. It comes from where you got the last one, or from:</p>
    <pre className="overflow-x-auto rounded-md bg-raised p-3 font-mono text-xs">
      npm run hqrelay -- console link
    </pre>
  </>
);

/** The address is remembered: a new link without one of its own leads back to it. */
export function SignedOut() {
  useEffect(() => store('wanted', window.location.pathname + window.location.search), []);
  return (
    <main className="mx-auto mt-[12vh] max-w-md p-4">
      <div className="rounded-xl border border-line bg-surface p-6">
        <h1 className="m-0 text-xl font-semibold">You are signed out</h1>
        {how}
        <p className="mb-0 text-muted">It leads back to this page.</p>
        <Button look="primary" className="mt-4" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </div>
    </main>
  );
}

/** Lies over the page, whose forms keep their input. */
export function SessionEnded({ retry }: { retry: () => void }) {
  return (
    <Dialog open onOpenChange={() => undefined} title="Your session has ended">
      {how}
      <p className="text-muted">This page and what you typed stay here. Come back to this tab afterwards.</p>
      <Button look="primary" onClick={retry}>
        I have signed in again
      </Button>
    </Dialog>
  );
}

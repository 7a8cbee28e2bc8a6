import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { FormError } from '../components/field.tsx';
import { signIn } from './sign-in.ts';

/** The link's token is redeemed by a click: programs that open links in mail do not use it up. */
export function SignInPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: signIn,
    onSuccess: (url) => window.location.replace(url),
  });
  return (
    <main className="mx-auto mt-[12vh] max-w-md p-4">
      <div className="rounded-xl border border-line bg-surface p-6">
        <img src="/icon.svg" alt="" width={36} height={36} />
        <h1 className="mt-4 mb-1 text-xl font-semibold">Sign in to HQRelay</h1>
        {token === '' ? (
          <p className="mb-0 text-muted">
            This address has no sign-in token. Open the whole link that you were given, or ask for a new one.
          </p>
        ) : (
          <>
            <p className="text-muted">This link signs in one browser, once.</p>
            <FormError error={error} />
            {error && <p className="text-muted">Links end and work once only. Ask for a new one.</p>}
            <Button
              look="primary"
              className="mt-2 w-full"
              busy={isPending || isSuccess}
              onClick={() => mutate(token)}
            >
              Sign in
            </Button>
          </>
        )}
      </div>
    </main>
  );
}

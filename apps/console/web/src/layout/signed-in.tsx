import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { isSignedOut, read } from '../api/read.ts';
import { Failed, Loading } from '../components/states.tsx';
import { Shell } from './shell.tsx';
import { SessionEnded, SignedOut } from './signed-out.tsx';

/** Everything but the sign-in page. When a session ends, the page stays with the input of its forms. */
export function SignedIn() {
  const { data: me, error, refetch } = useQuery(read('get /api/v1/me', {}));
  if (me) {
    return (
      <Shell me={me}>
        <Outlet />
        {isSignedOut(error) && <SessionEnded retry={() => void refetch()} />}
      </Shell>
    );
  }
  if (isSignedOut(error)) return <SignedOut />;
  return (
    <div className="mx-auto max-w-3xl p-4">
      {error ? <Failed error={error} retry={() => void refetch()} /> : <Loading />}
    </div>
  );
}

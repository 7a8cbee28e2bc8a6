import { readStored, store } from '../display/stored.ts';

/** Trades the token of a link for a session, and answers where to continue. */
export async function signIn(token: string): Promise<string> {
  const response = await fetch('/api/v1/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hqrelay-console': '1' },
    body: JSON.stringify({ token }),
  });
  const answer = (await response.json()) as { returnUrl?: string | null; error?: { message: string } };
  if (!response.ok) throw new Error(answer.error?.message ?? `The console answered ${response.status}`);
  const wanted = readStored('wanted');
  store('wanted', null);
  const url = new URL(answer.returnUrl ?? wanted ?? '/', window.location.origin);
  // The URL of another site is shown as a link back; a sign-in never leads there unseen.
  return url.origin === window.location.origin ? url.href : '/';
}

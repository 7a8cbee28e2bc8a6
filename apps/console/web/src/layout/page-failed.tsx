import { sentenceOf } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';

/** A fault of the page itself, such as a script of an older version that the server no longer has. */
export function PageFailed({ error }: { error: unknown }) {
  return (
    <div role="alert" className="mx-auto my-8 max-w-3xl rounded-lg border border-line bg-surface p-6">
      <p className="m-0 text-base font-medium text-bad">This page failed</p>
      <p className="text-muted">{sentenceOf(error)}. After an update of the console, reload the page.</p>
      <Button look="primary" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  );
}

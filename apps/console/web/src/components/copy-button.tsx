import { useState } from 'react';
import { Button, type ButtonLook } from './button.tsx';

type Props = { text: string; label?: string; look?: ButtonLook };

/** Copies a text, and announces it to screen readers too. */
export function CopyButton({ text, label = 'Copy', look = 'quiet' }: Props) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = async () => {
    const done = await writeToClipboard(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    );
    setState(done);
    window.setTimeout(() => setState('idle'), 1_500);
  };
  return (
    <Button small look={look} onClick={() => void copy()}>
      <span aria-live="polite">
        {state === 'idle' ? label : state === 'copied' ? 'Copied' : 'The browser refused'}
      </span>
    </Button>
  );
}

/** Browsers have no clipboard on plain HTTP, other than on loopback. */
async function writeToClipboard(text: string): Promise<void> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (!clipboard) throw new Error('no clipboard');
  await clipboard.writeText(text);
}

import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';

type Options = { isFault?: boolean; undo?: (() => void) | undefined };

const undoMs = 12_000;

/** Shows the result of a change. Errors stay until they are closed, and a change with an undo stays longer. */
export function useToast(): (text: string, options?: Options) => void {
  const { add, close } = Toast.useToastManager();
  return (text, { isFault = false, undo } = {}) => {
    const id = add({
      title: text,
      type: isFault ? 'bad' : 'good',
      ...(isFault && { timeout: 0, priority: 'high' }),
      ...(undo && {
        timeout: undoMs,
        actionProps: {
          children: 'Undo',
          onClick: () => {
            close(id);
            undo();
          },
        },
      }),
    });
  };
}

export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed inset-x-4 bottom-4 z-50 mx-auto flex max-w-md flex-col gap-2">
          <Toasts />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Toasts() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className={`flex items-start gap-3 rounded-lg border bg-surface px-4 py-3 shadow-lg ${
        toast.type === 'bad' ? 'border-bad' : 'border-line'
      }`}
    >
      <Toast.Title className={`m-0 grow text-sm font-medium ${toast.type === 'bad' ? 'text-bad' : ''}`} />
      {toast.actionProps && (
        <Toast.Action className="rounded border border-line px-2 py-0.5 text-sm font-medium text-accent hover:bg-raised" />
      )}
      <Toast.Close aria-label="Close" className="-m-1 rounded p-1 leading-none text-muted hover:text-ink">
        ✕
      </Toast.Close>
    </Toast.Root>
  ));
}

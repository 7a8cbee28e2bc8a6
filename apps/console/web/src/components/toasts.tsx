import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';

type ToastTone = 'good' | 'bad';

/** Says what a change did. Faults stay until they are closed. */
export function useToast(): (text: string, tone?: ToastTone) => void {
  const { add } = Toast.useToastManager();
  return (text, tone = 'good') =>
    void add({ title: text, type: tone, ...(tone === 'bad' && { timeout: 0, priority: 'high' }) });
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
      <Toast.Close aria-label="Close" className="-m-1 rounded p-1 leading-none text-muted hover:text-ink">
        ✕
      </Toast.Close>
    </Toast.Root>
  ));
}

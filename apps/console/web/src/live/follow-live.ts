/**
 * Calls `onChange` when something arrives in a project, or is attempted. One tab of a browser has the stream and tells the others:
 * browsers allow few connections to a host. A hidden tab gives the stream up. Where the browser has no locks, as on plain HTTP, or
 * the stream is refused, nothing is called, and pages ask at intervals as they do anyway.
 */
export function followLive(projectId: string, onChange: () => void): () => void {
  const name = `hqrelay.live.${projectId}`;
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', onChange);
  let turn: AbortController | undefined;

  const onVisibility = () => {
    turn?.abort();
    turn = undefined;
    if (document.visibilityState === 'hidden') return;
    turn = new AbortController();
    void holdStream(name, turn.signal, () =>
      stream(projectId, () => {
        channel.postMessage('changed');
        onChange();
      }),
    );
  };
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    turn?.abort();
    channel.close();
  };
}

/** Opens the stream once this tab has the lock, and keeps both until `signal`. */
async function holdStream(name: string, signal: AbortSignal, open: () => EventSource): Promise<void> {
  const { locks } = navigator as { locks?: LockManager };
  try {
    await locks?.request(name, { signal }, () => {
      const source = open();
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          source.close();
          resolve();
        });
      });
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function stream(projectId: string, onEvent: () => void): EventSource {
  const source = new EventSource(`/api/v1/projects/${projectId}/live`);
  for (const kind of ['webhook', 'attempt', 'gap']) source.addEventListener(kind, onEvent);
  return source;
}

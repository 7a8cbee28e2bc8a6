/** One stream for each browser, whatever the projects of its tabs are: over HTTP/1.1 it has six connections to a host. */
const lock = 'hqrelay.live';

/**
 * Calls `onChange` when something arrives in a project, or is attempted. One tab of a browser has the stream and tells the
 * other tabs of its project. A hidden tab gives the stream up. Tabs of other projects, browsers without locks, as on plain HTTP,
 * and tabs whose stream is refused ask at intervals as they do anyway.
 */
export function followLive(projectId: string, onChange: () => void): () => void {
  const channel = new BroadcastChannel(`hqrelay.live.${projectId}`);
  channel.addEventListener('message', onChange);
  let turn: AbortController | undefined;

  const onVisibility = () => {
    turn?.abort();
    turn = undefined;
    if (document.visibilityState === 'hidden') return;
    turn = new AbortController();
    void holdStream(turn.signal, () =>
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
async function holdStream(signal: AbortSignal, open: () => EventSource): Promise<void> {
  const { locks } = navigator as { locks?: LockManager };
  try {
    await locks?.request(lock, { signal }, () => {
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
  // Refused for good, as after the end of the session: the page asks once more and learns why.
  source.addEventListener('error', () => source.readyState === EventSource.CLOSED && onEvent());
  return source;
}

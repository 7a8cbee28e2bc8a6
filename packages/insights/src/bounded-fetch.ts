/**
 * This `fetch`, but it follows no redirect, because a redirect would carry the API key to another host, and fails when the answer has
 * more than `bytesMax` bytes.
 */
export function createBoundedFetch(fetch: typeof globalThis.fetch, bytesMax: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (!response.body) return response;
    let bytes = 0;
    const bound = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > bytesMax) controller.error(new Error(`the answer has more than ${bytesMax} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(bound), response);
  };
}

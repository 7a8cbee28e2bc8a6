import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { decodeText } from './decode-text.ts';

const shownBytesMax = 262_144;

export type Payload = {
  /** At most the bytes that a page shows. */
  head: Uint8Array;
  /** Of the head; undefined where it is not UTF-8. */
  text: string | undefined;
  isWhole: boolean;
  size: number;
};

/** Reads the head of a payload: a page never holds more bytes than it shows. `size` is that of the whole payload. */
export function payloadQuery(webhookLogId: string, size: number) {
  return queryOptions({
    queryKey: ['get /api/v1/webhooks/{id}/payload', webhookLogId],
    // Payloads never change.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Payload> => {
      const input = { params: { id: webhookLogId }, query: { bytesMax: String(shownBytesMax) } };
      const blob = await call('get /api/v1/webhooks/{id}/payload', input, signal);
      const isWhole = blob.size === size;
      const head = new Uint8Array(await blob.arrayBuffer());
      return { head, text: decodeText(head, isWhole), isWhole, size };
    },
  });
}

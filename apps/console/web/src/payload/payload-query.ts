import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { decodeText } from './decode-text.ts';

const shownBytesMax = 262_144;

export type Payload = {
  /** At most the bytes that a page can show. */
  head: Uint8Array;
  /** Of the head; undefined where it is not UTF-8. */
  text: string | undefined;
  isWhole: boolean;
  size: number;
};

export function payloadQuery(webhookLogId: string) {
  return queryOptions({
    queryKey: ['get /api/v1/webhooks/{id}/payload', webhookLogId],
    // Payloads never change.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Payload> => {
      const blob = await call('get /api/v1/webhooks/{id}/payload', { params: { id: webhookLogId } }, signal);
      const isWhole = blob.size <= shownBytesMax;
      const head = new Uint8Array(await blob.slice(0, shownBytesMax).arrayBuffer());
      return { head, text: decodeText(head, isWhole), isWhole, size: blob.size };
    },
  });
}

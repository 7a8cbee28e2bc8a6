import type { AdmissionRequest } from '@hqrelay/cache/admission/admit';
import type { ContentKey } from '@hqrelay/domain/inbound/content-keys';
import type { KeysOfWebhook, PriorWebhook, Reservation } from '@hqrelay/domain/inbound/reservation';

/** A verified request that asks for its webhook's key. */
export type KeyRequest = Omit<AdmissionRequest, 'contentKeys'> & {
  onConflict: 'reject' | 'duplicate';
  /** Keys that are reserved with the id's: the same content under another id is a duplicate. */
  contentKeys: readonly ContentKey[];
};

/** Ends a reservation. No answer waits for it and it never rejects: a reservation that is not ended expires. */
export type ReservationHandle = {
  /** The webhook is durable under this id. Keys of the request that do not stand for it are released. */
  accept: (as: { id: string; payloadSha256: string }, stands: KeysOfWebhook) => void;
  release: () => void;
};

export type StoreAnswer =
  | {
      kind: 'held';
      held: Pick<Reservation, 'state' | 'id' | 'payloadSha256'>;
      isMine: boolean;
      /** Null also when no look-up was needed, or Postgres did not answer. */
      prior: PriorWebhook | null;
      /** Whether a repeated answer gets a row of its own, and is not thinned. */
      hasOwnRow: boolean;
      handle: ReservationHandle;
    }
  | { kind: 'rate_limited'; retryAfterMs: number; hasOwnRow: boolean };

export type ReservationStore = {
  /** Undefined when the store is unavailable or late; the command may still run. */
  reserve: (request: KeyRequest) => Promise<StoreAnswer | undefined>;
};

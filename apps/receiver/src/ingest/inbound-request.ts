import type { CredentialPlace } from '@hqrelay/domain/inbound/forwarded-credentials';
import type { ContentKey } from '@hqrelay/domain/inbound/content-keys';
import type { OrderingKeys } from '@hqrelay/domain/inbound/ordering-key';
import { newId } from '@hqrelay/domain/ids';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import type { HandshakeReply } from '@hqrelay/domain/providers/handshake';
import type { Preset } from '@hqrelay/domain/providers/preset';
import type { ProviderRequest } from '@hqrelay/domain/providers/request/request-view';

/** One request as it was received; nothing of it is verified yet. */
export type InboundRequest = ProviderRequest & {
  /** Lower case. */
  projectId: string;
  rawHeaders: readonly string[];
  remoteAddr: string | null;
  correlationId: string;
  /** ms since epoch. */
  receivedAt: number;
  /** Calls `listener` when the answer is sent, or the sender closes the connection before. */
  onEnded: (listener: () => void) => void;
};

export type IngestResult =
  | { kind: 'queued' | 'replayed'; id: string; accepted: Preset['accepted'] }
  /** A request with which the provider checks the webhook URL. */
  | { kind: 'handshake'; reply: HandshakeReply }
  | { kind: 'conflict'; id: string }
  | { kind: 'rate_limited'; retryAfterMs: number }
  | Rejection
  | { kind: 'unavailable'; code: string; message: string };

/** `isRecorded`: whether the request is within the budget of rejections, so that it has a row and a log line. */
export type Rejection = RejectionAnswer & { isRecorded: boolean };
export type RejectionAnswer =
  { kind: 'bad_request'; code: string; message: string } | { kind: 'unauthorized' };

/** A webhook whose signature is verified. */
export type VerifiedWebhook = {
  request: InboundRequest;
  project: ProjectConfig;
  accepted: Preset['accepted'];
  webhookId: string;
  eventType: string | null;
  payloadSha256: string;
  contentKeys: readonly ContentKey[];
  /** The values of ordering keys of those owed endpoints that have one. */
  orderingKeysOf: (owed: readonly string[]) => OrderingKeys | undefined;
  headers: [string, string][];
  /** The query of the request, without the project's secrets. */
  query: string;
  /** Where secrets of the project stood in the headers that were removed as credentials. */
  credentials: CredentialPlace[];
};

/** A new id for the request's row, and for its webhook if that is accepted. The time inside it is `receivedAt`. */
export function idFor(request: InboundRequest): string {
  return newId(request.receivedAt);
}
